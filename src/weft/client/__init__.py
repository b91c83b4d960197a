"""The Python client: talks to the HTTP api and to nothing else.

`aio.py` is the client, `sync.py` the same for programs without an event loop. Below them, from
the bottom: `_connection.py` (HTTP/1.1 over one socket), `_session.py` (where the server is,
repeats, errors), `_sse.py` (server-sent events) and `_routes.py` (one method per route). Nothing
here prints, and nothing reads the database.
"""
