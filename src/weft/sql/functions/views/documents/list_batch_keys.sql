-- list_batch_keys: the idempotency keys with which those of these batches were created that the caller sees.
-- Safe to repeat: yes, it only reads.
-- Locks: none.
-- Plan: batches by key.
-- Returns: the number and the key of each batch that has one, in no fixed order.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_batch_keys(tenant_id int, batch_ids bigint[])
RETURNS TABLE (batch_id bigint, idempotency_key text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT b.batch_id, b.idempotency_key
    FROM unnest(list_batch_keys.batch_ids) t
    CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = t OFFSET 0) b
    WHERE b.idempotency_key IS NOT NULL
        AND b.deleted_at IS NULL
        AND weft._permission(b.batch_id, b.user_id, b.project_id) > 0;
END $$;
