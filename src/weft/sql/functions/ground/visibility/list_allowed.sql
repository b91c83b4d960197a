-- list_allowed: those of these batches on which the caller may do what the transaction is for (weft.needs),
--   as _check_batch decides.
-- Safe to repeat: yes, it only reads.
-- Plan: batches by key, as _permission.
-- Returns: their numbers, in no fixed order.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_allowed(tenant_id int, batch_ids bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT b.batch_id
    FROM unnest(list_allowed.batch_ids) t
    CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = t OFFSET 0) b
    WHERE b.deleted_at IS NULL
        AND weft._permission(b.batch_id, b.user_id, b.project_id) >= weft._needed_permission();
END $$;
