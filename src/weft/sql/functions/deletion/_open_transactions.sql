-- _open_transactions: the virtual numbers of the transactions of weft's processes that are under way in this database, but for this one.
-- Called by: remove_batch.   Safe to repeat: yes, it only reads.
-- Later transactions see all that was committed before this call; once these have ended, no transaction is left that does not.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_transactions() RETURNS text[] LANGUAGE sql VOLATILE
AS $$
    SELECT coalesce(array_agg(l.virtualtransaction), '{}') FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'virtualxid' AND l.granted AND a.datname = current_database() AND l.pid <> pg_backend_pid()
      AND a.usename IN ('weft_api', 'weft_driver', 'weft_worker')
$$;
