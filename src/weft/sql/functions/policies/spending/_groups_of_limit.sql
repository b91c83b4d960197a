-- _groups_of_limit: what a limit holds or cancels: its group, or the batches of its project or user that may
--   have jobs which have not ended.
-- Plan: of a project or a user the sums of the tenant's open batches by index, and the deltas that are not
--   folded; batches by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._groups_of_limit(of_limit weft.spend_limit)
RETURNS TABLE (batch_id bigint, group_id int) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF of_limit.batch_id IS NOT NULL THEN
        RETURN QUERY
        SELECT b.batch_id, of_limit.group_id
        FROM weft.batch b
        WHERE b.batch_id = of_limit.batch_id AND NOT b.removing;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT b.batch_id, 0
    FROM (
        SELECT c.batch_id
        FROM weft.group_count c
        WHERE c.tenant_id = of_limit.tenant_id AND c.group_id = 0 AND NOT c.complete
        UNION
        SELECT d.batch_id
        FROM weft._unfolded() d
        WHERE d.tenant_id = of_limit.tenant_id
    ) x
    CROSS JOIN LATERAL (SELECT y.* FROM weft.batch y WHERE y.batch_id = x.batch_id OFFSET 0) b
    WHERE (b.project_id = of_limit.project_id OR b.user_id = of_limit.user_id) AND NOT b.removing;
END $$;
