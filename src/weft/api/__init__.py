"""HTTP: routes, use cases, and the documents of the outside.

Validates, authorises, calls the store port, streams. Must not work in the background and must not
know PostgreSQL. A route is found by its path: `/v1/batches/{b}/jobs` is in `api/routes/`.
"""
