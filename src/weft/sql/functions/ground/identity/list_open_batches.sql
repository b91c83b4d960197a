-- list_open_batches: numbers of batches of a user that may have jobs which have not ended, after this one, in
--   order.
-- Safe to repeat: yes, it only reads.
-- Plan: sums of the tenant's open batches by index, and the deltas that are not folded; batches by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_open_batches(tenant_id int, of_user_id int, after bigint, limit_rows int)
RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT b.batch_id
    FROM (
        SELECT c.batch_id
        FROM weft.group_count c
        WHERE c.tenant_id = list_open_batches.tenant_id AND c.group_id = 0 AND NOT c.complete
        UNION
        SELECT d.batch_id
        FROM weft._unfolded() d
        WHERE d.tenant_id = list_open_batches.tenant_id
    ) x
    JOIN weft.batch b ON b.batch_id = x.batch_id
    WHERE b.user_id = of_user_id AND b.batch_id > list_open_batches.after AND b.deleted_at IS NULL
    ORDER BY 1
    LIMIT limit_rows;
END $$;
