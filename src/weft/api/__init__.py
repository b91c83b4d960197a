"""HTTP: validates, authorises, calls the store port, streams. Keeps nothing.

`routes/` and `doors/` (the wire) → `use_cases/` and `weft/submission/` (what is done) → the store
port; `http/` is the plumbing of both kinds of wire. Must not work in the background and must not
know PostgreSQL.
"""
