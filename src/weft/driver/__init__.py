"""The driver: the loops that decide, run by one leader at a time.

    lead.py       who leads; ends the term when the lock or the database is gone
    term.py       the loops of one term, and what wakes them
    fold.py       deltas into sums, completion of groups
    cancel.py     jobs of cancelled groups
    hold.py       jobs of groups that are held, or were
    reaper.py     workers that fell silent
    callbacks.py  who is told of completions
    retention.py  what is too old to be kept

A loop reads, calls a decision in `core` and writes in one call of the store. Nothing polls: a loop
waits for its bell, which a notice rings, or for the one date that it knows. Must not import an
adapter: the store comes as a port.
"""
