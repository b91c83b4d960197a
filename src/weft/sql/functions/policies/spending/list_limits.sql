-- list_limits: documents of limits, in the order of their numbers after one; those that were taken away and
--   are done are not there.
-- Safe to repeat: yes, it only reads.
-- Plan: limits of the tenant by index, a page; as _visible_limits, as _limits_on_batch; as _limit_documents,
--   of a page.
-- of_user_id: only their own, those of their billing projects and those of batches that they see; NULL: all
--   of the tenant.
-- of_batch_id: only those of this batch and its groups, its billing project and its user; NULL: all.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_limits(
    tenant_id int, of_user_id int, of_batch_id bigint, after int, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_batch weft.batch;
    v_ids int[];
BEGIN
    IF of_batch_id IS NOT NULL THEN
        PERFORM weft._check_batch(of_batch_id);
        SELECT b.* INTO v_batch FROM weft.batch b WHERE b.batch_id = of_batch_id;
        v_ids := ARRAY(SELECT weft._limits_on_batch(v_batch, of_user_id, list_limits.after, limit_rows));
    ELSIF of_user_id IS NOT NULL THEN
        v_ids := ARRAY(SELECT weft._visible_limits(of_user_id, list_limits.after, limit_rows));
    ELSE
        -- Comparing rows leaves no other index to choose, here and in the others.
        v_ids := ARRAY(
            SELECT l.limit_id
            FROM weft.spend_limit l
            WHERE (l.tenant_id, l.limit_id) > (list_limits.tenant_id, list_limits.after)
                AND l.tenant_id <= list_limits.tenant_id
                AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
            ORDER BY l.tenant_id, l.limit_id
            LIMIT limit_rows
        );
    END IF;
    RETURN QUERY SELECT d FROM weft._limit_documents(v_ids) d;
END $$;
