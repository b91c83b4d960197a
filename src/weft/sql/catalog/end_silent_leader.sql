-- End the session that holds the leader's lock, if nothing was heard over it for this number of seconds ($1):
--   its driver is gone or hangs, and the
-- server cannot know. A driver that comes back is refused by its epoch. A session shows those of its own
--   login.
SELECT pg_terminate_backend(a.pid)
FROM pg_locks l
JOIN pg_database d ON d.oid = l.database
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory'
    AND (l.classid, l.objid, l.objsubid) = (7702, 0, 2)
    AND l.granted
    AND d.datname = current_database()
    AND a.usename = current_user
    AND a.state = 'idle'
    AND a.state_change < clock_timestamp() - make_interval(secs => $1)
