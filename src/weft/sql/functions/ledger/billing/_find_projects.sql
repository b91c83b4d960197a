-- _find_projects: the billing projects of a tenant that have these names, without regard to case; deleted
--   ones, too.
-- Plan: projects by name.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._find_projects(of_tenant_id int, of_names text[])
RETURNS SETOF weft.billing_project LANGUAGE sql STABLE AS $$
    SELECT p.*
    FROM unnest(of_names) n
    CROSS JOIN LATERAL (
        SELECT x.*
        FROM weft.billing_project x
        WHERE x.tenant_id = of_tenant_id AND x.name_key = weft._name_key(n)
        OFFSET 0
    ) p
$$;
