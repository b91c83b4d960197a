"""Doors: the wire formats of other systems' clients, one package each.

A door translates: it reads its own format into the documents of `wire/documents.py`, calls a use
case, and writes the result in its own format. It exports `ROUTES`, which `app.py` serves beside
those of `/v1`.

A door must not decide anything, ask the store by itself, or import a route or another door. What
it needs and no use case offers becomes a use case.
"""
