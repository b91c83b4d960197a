"""Output in a bucket: shipped from where it is written, read by an api that has no such directory.

Runners write files as ever (`files`); what has grown is brought to the bucket in packs, and a
reader lays the output of an attempt out again as those files (ADR 122).
"""
