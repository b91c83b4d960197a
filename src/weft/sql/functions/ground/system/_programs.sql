-- _programs: the processes of weft that are connected to this database: how many by role and version, and
--   some of them, drivers and apis first. Each names itself in application_name; other sessions of its
--   logins, such as those of psql, count as one for each role. Workers that are linked through an api have no
--   session, and are counted by what they have registered.
-- Locks: none.
-- Plan: sessions of the server, at most max_connections; live incarnations by index.
-- Returns: `heard_at`: when one of its sessions began or ended a statement, and of the leader its last
--   heartbeat: a lock outlives who holds it; `since`, `heard_at`: NULL where their times are hidden.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._programs(limit_rows int) RETURNS jsonb LANGUAGE sql STABLE AS $$
    WITH leader AS (
        SELECT l.pid
        FROM pg_locks l
        JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory'
            AND (l.classid, l.objid, l.objsubid) = (7702, 0, 2)
            AND l.granted
            AND d.datname = current_database()
    ),
    session AS (
        SELECT
            substr(a.usename, 6) AS role,
            substring(a.application_name FROM 'schema (\d{1,9})')::int AS schema,
            n.parts[1] AS version,
            n.parts[2]::int AS pid,
            n.parts[3] AS host,
            a.backend_start,
            a.state_change,
            a.pid IN (SELECT l.pid FROM leader l) AS leads
        FROM pg_stat_activity a
        CROSS JOIN LATERAL (SELECT regexp_match(a.application_name, '\) (\S+) (\d{1,9})@(.*)$') AS parts) n
        WHERE a.datname = current_database() AND a.usename IN ('weft_api', 'weft_driver', 'weft_worker')
    ),
    process AS (
        SELECT
            s.role, s.version, s.schema, s.host, s.pid,
            count(*) AS n_connections,
            bool_or(s.leads) AS leads,
            min(s.backend_start) AS since,
            CASE
                WHEN bool_or(s.leads) THEN (SELECT d.heard_at FROM weft.driver_state d)
                ELSE max(s.state_change)
            END AS heard_at
        FROM session s
        GROUP BY 1, 2, 3, 4, 5
    )
    SELECT jsonb_build_object(
        'processes', (
            SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]')
            FROM (
                SELECT x.*
                FROM process x
                ORDER BY x.role = 'worker', x.role, NOT x.leads, x.host, x.pid
                LIMIT limit_rows
            ) p
        ),
        'programs', (
            SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]')
            FROM (
                SELECT x.role, x.version, count(*) AS n
                FROM (
                    SELECT p.role, p.version
                    FROM process p
                    UNION ALL
                    SELECT 'worker', i.version
                    FROM weft.worker_incarnation i
                    WHERE i.ended_at IS NULL AND i.token_id IS NOT NULL
                ) x
                GROUP BY 1, 2
                ORDER BY x.role, x.version
                LIMIT limit_rows
            ) r
        )
    )
$$;
