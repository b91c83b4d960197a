-- _unfolded_batches: the batches of a tenant to which something happened since the last fold.
-- Plan: the deltas that are not folded.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unfolded_batches(of_tenant_id int) RETURNS SETOF bigint
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT d.batch_id FROM weft._unfolded() d WHERE d.tenant_id = of_tenant_id
$$;
