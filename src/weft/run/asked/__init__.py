"""Foreign code in processes of its own, asked by lines of JSON: testers, look-ups, sources, sinks.

Who asks is a role; what answers has no login and no key.
"""
