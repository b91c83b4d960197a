-- _open_transactions: the virtual ids of other open transactions of weft's processes in this database.
-- Safe to repeat: yes, it only reads.
-- Later transactions see everything committed before this call; once these have ended, every transaction
--   does.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_transactions() RETURNS text[] LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(array_agg(l.virtualtransaction), '{}')
    FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'virtualxid'
        AND l.granted
        AND a.datname = current_database()
        AND l.pid <> pg_backend_pid()
        AND a.usename IN ('weft_api', 'weft_driver', 'weft_worker')
$$;
