"""Doors: the wire formats of other systems' clients, one package each.

A door translates: it reads its own format into the documents of `wire/documents/`, calls a use
case, and writes the result in its own format. Its package registers one `Door`, by an entry point
of the group `weft.doors`; `run/doors.py` loads it and hands each role its part.

A door must not decide anything, ask the store by itself, or import a route or another door. What
it needs and no use case offers becomes a use case. Nobody else knows a door by its name.
"""
