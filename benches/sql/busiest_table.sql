-- busiest_table: the table with most changes in this database, quoted, for sessions that read it.
SELECT format('%I.%I', schemaname, relname) AS name
FROM pg_stat_user_tables
ORDER BY n_tup_ins + n_tup_upd + n_tup_del DESC
LIMIT 1
