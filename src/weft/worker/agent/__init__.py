"""The agent: claims jobs, hands them to the spawner, reports what became of them.

It decides how much to claim (`core.lease`) and holds nothing that cannot be found again: killed at
any moment, the next one asks the spawner what lives and the database what it owns.
"""
