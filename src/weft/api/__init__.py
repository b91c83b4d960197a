"""HTTP: validates, authorises, calls the store port, streams. Keeps nothing.

`routes/`, `pages/` and the doors above (the wire) → `use_cases/` and `weft/submission/` (what is
done) → the store port; `http/` is the plumbing of every wire. Must not work in the background and
must not know PostgreSQL.
"""
