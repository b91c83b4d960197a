"""Foreign code in processes of its own, asked for answers: testers, look-ups, messages, sources.

A role asks by a pool of one kind; the process that answers has no login and no key.
"""
