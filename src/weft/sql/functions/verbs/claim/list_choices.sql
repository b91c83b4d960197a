-- list_choices: what the tenants of these batches let their jobs choose of images and engines; tenants
--   without lists are left out.
-- For: Store.list_choices (worker agent, for jobs that choose something, before they leave).
-- Plan: batches and tenants by key.
-- Returns: one row per batch, in no fixed order: lists of patterns by kind.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_choices(batch_ids bigint[])
RETURNS TABLE (batch_id bigint, allowed jsonb) LANGUAGE sql STABLE AS $$
    SELECT x.b, t.allowed
    FROM unnest(list_choices.batch_ids) x (b)
    CROSS JOIN LATERAL (SELECT y.tenant_id FROM weft.batch y WHERE y.batch_id = x.b OFFSET 0) b
    CROSS JOIN LATERAL (SELECT y.allowed FROM weft.tenant y WHERE y.tenant_id = b.tenant_id OFFSET 0) t
    WHERE t.allowed <> '{}'
$$;
