-- get_batches: documents of those of these batches that the caller sees, newest first.
-- Safe to repeat: yes, it only reads.
-- Plan: everything by key.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.get_batches(tenant_id int, batch_ids bigint[]) RETURNS SETOF jsonb
LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
    SELECT d.document
    FROM weft._group_documents(
        get_batches.batch_ids, array_fill(0, ARRAY[cardinality(get_batches.batch_ids)])
    ) d
    WHERE (
        SELECT b.deleted_at IS NULL AND weft._permission(b.batch_id, b.user_id, b.project_id) > 0
        FROM weft.batch b
        WHERE b.batch_id = d.batch_id
    )
    ORDER BY d.batch_id DESC;
END $$;
