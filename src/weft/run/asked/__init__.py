"""Foreign code in processes of its own, asked by lines of JSON: testers, look-ups, sources, sinks.

A role asks; the process that answers has no login and no key.
"""
