"""Extensions: what a site may live without, a folder each.

An extension holds all of its subject and registers by entry points. The house imports none of
them, and they do not import each other: they meet by ports of the house. `make arch` says so.
"""
