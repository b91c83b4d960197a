-- The functions of the schema: name, signature, and the checksum of the file that made it (its comment).
-- Trigger functions are left out: migrations make them, and tables depend on them.
SELECT p.proname AS name, p.oid::regprocedure::text AS signature, obj_description(p.oid, 'pg_proc') AS checksum
FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace AND p.prorettype <> 'trigger'::regtype
ORDER BY signature
