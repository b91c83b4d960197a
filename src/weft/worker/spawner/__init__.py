"""The spawner: the one place that starts, watches and kills job processes, and keeps output.

Small, starts fast, rarely changes. Imports `weft.wire` and the standard library only. Must not
know the database, nor what a job is for: it is told an argument vector, an environment and
limits.
"""
