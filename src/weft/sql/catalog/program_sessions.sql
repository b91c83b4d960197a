-- The sessions of weft's programs in this database that were made for a schema below $1. Programs tell their
--   schema in application_name;
-- those that tell none are older than that habit. `connected_at` and `client` are NULL for whoever may not
--   see them.
SELECT
    a.pid,
    a.usename::text AS login,
    host(a.client_addr) AS client,
    a.backend_start AS connected_at,
    substring(a.application_name FROM 'schema (\d+)')::int AS program
FROM pg_stat_activity a
WHERE a.datname = current_database()
    AND a.usename IN ('weft_api', 'weft_driver', 'weft_worker')
    AND coalesce(substring(a.application_name FROM 'schema (\d+)')::int, 0) < $1::int
ORDER BY a.backend_start, a.pid
