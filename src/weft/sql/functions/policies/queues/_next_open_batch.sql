-- _next_open_batch: the first batch of a tenant from this one on that has jobs which have not ended, as far
--   as the sums or the deltas that are not folded tell.
-- Plan: sums of open batches by key; the deltas that are not folded.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._next_open_batch(of_tenant_id int, from_batch_id bigint) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT least(
        (
            SELECT min(c.batch_id)
            FROM weft.group_count c
            WHERE c.tenant_id = of_tenant_id
                AND c.group_id = 0
                AND NOT c.complete
                AND c.batch_id >= from_batch_id
        ),
        (
            SELECT min(d.batch_id)
            FROM weft._unfolded() d
            WHERE d.tenant_id = of_tenant_id AND d.batch_id >= from_batch_id
        )
    )
$$;
