-- own_pid: the number of this session's process; a transaction that asks has a snapshot from now on.
SELECT pg_backend_pid()
