SELECT
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal_bytes,
    (SELECT d.xact_commit FROM pg_stat_database d WHERE d.datname = current_database()) AS commits
