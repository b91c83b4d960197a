"""The driver: background work, done by one leader at a time.

    lead.py      who leads; ends the term when the lock or the database is gone
    lead.py      runs the loops of one term, passes on what wakes them, keeps the heartbeat
    loops/       one file per loop; `loops/__init__.py` lists them
    operations/  one file per kind of operation; `operations/__init__.py` lists them

A loop reads, calls a decision in `core` and writes in one call of the store. Nothing polls: a loop
waits for its bell or for its next date. Must not import an adapter: the store comes as a port.
"""
