"""Engines: clusters of others that run jobs or lend machines, a folder each."""
