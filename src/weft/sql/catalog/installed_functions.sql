-- The functions of the schema: name, signature, and the checksum of the file that made it (its comment).
-- Those on which tables depend are left out: schema/ makes the functions of triggers and of computed columns.
SELECT
    p.proname AS name, p.oid::regprocedure::text AS signature, obj_description(p.oid, 'pg_proc') AS checksum
FROM pg_proc p
WHERE p.pronamespace = to_regnamespace('weft')
    AND p.prorettype <> 'trigger'::regtype
    AND NOT EXISTS (
        SELECT
        FROM pg_depend d
        WHERE d.refclassid = 'pg_proc'::regclass
            AND d.refobjid = p.oid
            AND d.classid IN ('pg_attrdef'::regclass, 'pg_class'::regclass)
    )
ORDER BY signature
