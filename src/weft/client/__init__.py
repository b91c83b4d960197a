"""The Python client: talks to the HTTP api and to nothing else.

From the bottom:

- `_connection.py` (HTTP/1.1 over one socket), `_session.py` (where the server is, repeats,
  errors), `_sse.py` (server-sent events), `_routes.py` (one method per route), `api.py` (the same
  with streams, waits and uploads). The command line uses this.
- `_builder.py` (what programs collect), `_spool.py` (jobs, encoded), `_submission.py` and
  `_submit.py` (a builder's content and a document on their way), `_upload.py` (in bunches).
- `_batch.py`, `_group.py`, `_job.py`: what is there, asynchronously; `aio.py` shows it.
- `_runner.py`, `sync.py`: their twins, which wait.

Only `progress.py` and `_interrupt.py` print. Nothing reads the database.
"""
