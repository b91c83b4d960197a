"""The agent: claims jobs, hands them to the spawner, reports what became of them.

It decides how much to claim (`core.lease`) and keeps no state that cannot be recovered. It may be
killed at any moment: the next agent asks the spawner what runs and the database what it owns.
"""
