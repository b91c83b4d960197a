-- What all tables of weft take, with their indexes.
SELECT sum(pg_total_relation_size(c.oid))
FROM pg_class c
WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'
