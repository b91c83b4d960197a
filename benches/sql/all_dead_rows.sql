-- all_dead_rows: dead rows of all tables of this database, whoever made them, as their statistics have it.
SELECT coalesce(sum(n_dead_tup), 0)::bigint AS n_dead FROM pg_stat_user_tables
