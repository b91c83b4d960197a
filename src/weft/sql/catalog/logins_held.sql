-- Which other database of this server the logins serve, and for which home.
-- $1: the home that asks, which may move between its databases. The roles are the cluster's: the comment of
--   one says it (`logins_mark`).
-- Of a database that is gone it says nothing.
SELECT d.datname AS database, substr(c.comment, length(format('database %I, home ', d.datname)) + 1) AS home
FROM shobj_description(to_regrole('weft_api'), 'pg_authid') AS c (comment)
JOIN pg_database d ON starts_with(c.comment, format('database %I, home ', d.datname))
WHERE d.datname <> current_database() AND c.comment <> format('database %I, home %s', d.datname, $1::text)
