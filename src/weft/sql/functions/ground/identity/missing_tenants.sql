-- missing_tenants: which of these names no tenant has.
-- Plan: tenant by name.
-- Returns: one row per name that is missing, in their order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.missing_tenants(names text[]) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT n.name
    FROM unnest(missing_tenants.names) WITH ORDINALITY n (name, position)
    WHERE NOT EXISTS (SELECT FROM weft.tenant t WHERE t.name_key = weft._name_key(n.name))
    ORDER BY n.position
$$;
