"""The agent: claims attempts, gives them to the spawner, reports how they went.

Owns the worker's capacity, leases and heartbeats. Must not start a process itself, so that it can
be killed and started again while jobs run.
"""
