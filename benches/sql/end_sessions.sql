-- end_sessions: end the sessions of a database that do something; how many that were.
SELECT count(pg_terminate_backend(pid))
FROM pg_stat_activity
WHERE datname = $1 AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')
