-- The versions of a parameter count from 1 on, are all of one type, which their values have, and each differs
--   from the one before.
SELECT p.tenant_id, p.name, p.version, p.type, p.value
FROM (
    SELECT
        x.*,
        lag(x.version, 1, 0) OVER w AS before,
        lag(x.type, 1, x.type) OVER w AS type_before,
        lag(x.value) OVER w AS value_before
    FROM weft.parameter_version x
    WINDOW w AS (PARTITION BY x.tenant_id, x.name ORDER BY x.version)
) p
WHERE p.version <> p.before + 1
    OR p.type <> p.type_before
    OR p.value = p.value_before
    OR NOT weft._has_type(p.value, p.type)
