-- _database_facts: how large the database is, which tables are the largest, how many rows in them are dead,
--   how many connections there are, and which transaction is open for longest.
-- Plan: sessions of the server; the sizes of files, and statistics of tables: rows are not counted.
-- Returns: `sees_times`: whether this role sees when transactions of others began; without that there is no
--   longest one.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._database_facts(limit_rows int) RETURNS jsonb LANGUAGE sql STABLE AS $$
    WITH tables AS (
        SELECT
            c.relname AS name,
            pg_total_relation_size(c.oid) AS bytes,
            pg_stat_get_live_tuples(c.oid) AS n_rows,
            pg_stat_get_dead_tuples(c.oid) AS n_dead,
            greatest(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid)) AS
                vacuumed_at
        FROM pg_class c
        WHERE c.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'weft') AND c.relkind = 'r'
    )
    SELECT jsonb_build_object(
        'name', current_database(),
        'server_version', current_setting('server_version'),
        'started_at', pg_postmaster_start_time(),
        'bytes', pg_database_size(current_database()),
        'n_connections', (SELECT count(*) FROM pg_stat_activity a WHERE a.usename IS NOT NULL),
        'connections_max', current_setting('max_connections')::int,
        'sees_times', pg_has_role('pg_read_all_stats', 'USAGE'),
        'longest_transaction', (
            SELECT jsonb_build_object(
                'pid', a.pid,
                'login', a.usename,
                'program', a.application_name,
                'state', a.state,
                'began_at', a.xact_start
            )
            FROM pg_stat_activity a
            WHERE a.datname = current_database()
                AND a.backend_type = 'client backend'
                AND a.pid <> pg_backend_pid()
                AND a.xact_start IS NOT NULL
            ORDER BY a.xact_start
            LIMIT 1
        ),
        'n_dead', (SELECT coalesce(sum(t.n_dead), 0) FROM tables t),
        'n_tables', (SELECT count(*) FROM tables),
        'tables', (
            SELECT coalesce(jsonb_agg(to_jsonb(l)), '[]')
            FROM (SELECT t.* FROM tables t ORDER BY t.bytes DESC, t.name LIMIT limit_rows) l
        )
    )
$$;
