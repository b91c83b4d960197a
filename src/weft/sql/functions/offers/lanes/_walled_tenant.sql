-- _walled_tenant: this tenant if there are pools that its queues may not use; NULL: it sees all pools, as if
--   there were no wall.
-- For: list_workers, overview, sum_workers: then workers are read in one order, however many pools there are.
-- Plan: the first and the last entry of the index.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._walled_tenant(of_tenant_id int) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT of_tenant_id
    WHERE (SELECT min(p.serves_tenant_id) FROM weft.pool p) < of_tenant_id
        OR (SELECT max(p.serves_tenant_id) FROM weft.pool p) > of_tenant_id
$$;
