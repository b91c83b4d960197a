-- _open_batches: the next batches of a tenant from this one on that may have jobs which have not ended, those
--   of updates included that are not committed.
-- Plan: sums of open batches by key; the deltas that are not folded; open updates, which are few; batches by
--   key.
-- Returns: at most limit_batches, in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_batches(of_tenant_id int, from_batch_id bigint, limit_batches int)
RETURNS bigint[] LANGUAGE sql STABLE AS $$
    SELECT ARRAY(
        (
            SELECT c.batch_id
            FROM weft.group_count c
            WHERE c.tenant_id = of_tenant_id
                AND c.group_id = 0
                AND NOT c.complete
                AND c.batch_id >= from_batch_id
            ORDER BY c.batch_id
            LIMIT limit_batches
        ) UNION SELECT d.batch_id FROM weft._unfolded() d WHERE d.tenant_id = of_tenant_id
            AND d.batch_id >= from_batch_id UNION SELECT u.batch_id FROM weft.batch_update u
                WHERE u.committed_at IS NULL
            AND u.tenant_id = of_tenant_id
            AND u.batch_id >= from_batch_id ORDER BY 1 LIMIT limit_batches
    )
$$;
