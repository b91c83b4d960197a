-- sessions: of clients to the server, without this one: who, what it last did, and how many seconds ago.
SELECT
    usename::text AS login,
    application_name AS name,
    state,
    left(query, 60) AS last,
    round(extract(epoch FROM now() - state_change), 1)::float AS rest_s,
    pid
FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
ORDER BY usename, application_name, pid
