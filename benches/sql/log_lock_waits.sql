-- log_lock_waits: let the server write every wait for a lock that takes longer than 10 ms to its log.
ALTER SYSTEM SET log_lock_waits = on;
ALTER SYSTEM SET deadlock_timeout = '10ms';
SELECT pg_reload_conf();
