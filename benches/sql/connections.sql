-- connections: those of clients to the server, without this one; and the bytes of its write-ahead log.
SELECT
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
        AS connections,
    (SELECT sum(size) FROM pg_ls_waldir())::bigint AS wal_bytes
