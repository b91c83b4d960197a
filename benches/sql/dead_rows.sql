-- dead_rows: dead rows of all tables of weft, as their statistics have it.
SELECT coalesce(sum(n_dead_tup), 0)::bigint AS n_dead
FROM pg_stat_all_tables
WHERE schemaname IN ('weft', 'pg_toast')
