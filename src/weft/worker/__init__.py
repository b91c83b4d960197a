"""The role that runs jobs on one machine: an agent and a spawner, two processes.

The agent talks to the store and may be replaced at any time; the spawner owns the job processes.
"""
