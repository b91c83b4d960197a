"""Transports: adapters that carry offers of jobs to workers. None must know the store."""
