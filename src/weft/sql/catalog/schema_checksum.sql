-- The checksum of all functions and views as they were installed last.
SELECT obj_description('weft'::regnamespace, 'pg_namespace')
