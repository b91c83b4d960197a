-- Each table, view and index of weft: its table, the rows of that (an estimate, NULL if there is none yet),
--   its bytes with indexes and long
-- values, and its foreign keys.
SELECT
    format('%s.%s', n.nspname, c.relname) AS name,
    format('%s.%s', n.nspname, t.relname) AS table_name,
    nullif(t.reltuples, -1)::bigint AS n_rows,
    pg_total_relation_size(t.oid) AS n_bytes,
    ARRAY(
        SELECT format('%s %s', k.conname, pg_get_constraintdef(k.oid))
        FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'f'
    ) AS foreign_keys
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid
JOIN pg_class t ON t.oid = coalesce(i.indrelid, c.oid)
WHERE n.nspname IN ('weft', 'weft_views') AND c.relkind IN ('r', 'p', 'v', 'i')
