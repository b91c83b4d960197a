"""Engines: clusters of others that run jobs or lend machines, a folder each.

`executor/` says what the api accepts, `runner/` runs attempts there, `provider/` makes machines;
each has its entry point. What runners share is `plugins/runners/remote/`.
"""
