"""The store port on asyncpg: one method per SQL function, all through one timed and counted call.

Owns connections, their pools, and the translation of database errors into `WeftError`. Must not
hold query text (that is in `sql/`) nor decide anything (that is in `core/` and in SQL).
"""
