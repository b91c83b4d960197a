"""The executor `process`: turns a job into what the spawner is told.

Owns the environment, the directory and the limits of a process. Must not start one: the spawner
does.
"""
