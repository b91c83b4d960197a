-- _changed_foreign: numbers of batches of a door among which are its limit_rows jobs that changed last, or first: all that are open, and
--   so many that are complete. The caller need not see all of them.
-- Called by: list_foreign_jobs.   Safe to repeat: yes, it only reads.
-- Plan: open ones of the tenant by index, and the deltas that are not folded; complete ones in their order, along an index.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._changed_foreign(of_tenant_id int, of_door text, last_first boolean, limit_rows int) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PLAN_IN_ORDER PLAN_ONCE
AS $$
BEGIN
    RETURN QUERY SELECT c.batch_id FROM weft.group_count c
        WHERE c.tenant_id = of_tenant_id AND c.group_id = 0 AND NOT c.complete
    UNION
    SELECT d.batch_id FROM weft.fold f JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto)
        AND NOT pg_visible_in_snapshot(d.xid, f.upto) WHERE d.tenant_id = of_tenant_id;
    IF last_first THEN
        RETURN QUERY SELECT g.batch_id FROM weft.group_completion g CROSS JOIN LATERAL (
            SELECT x.user_id, x.project_id FROM weft.batch x WHERE x.batch_id = g.batch_id AND x.door = of_door
                AND x.foreign_id IS NOT NULL AND x.deleted_at IS NULL AND NOT x.hidden OFFSET 0) b
        WHERE g.tenant_id = of_tenant_id AND g.group_id = 0 AND weft._permission(g.batch_id, b.user_id, b.project_id) > 0
        ORDER BY g.completed_at DESC, g.batch_id DESC LIMIT limit_rows;
    ELSE
        RETURN QUERY SELECT g.batch_id FROM weft.group_completion g CROSS JOIN LATERAL (
            SELECT x.user_id, x.project_id FROM weft.batch x WHERE x.batch_id = g.batch_id AND x.door = of_door
                AND x.foreign_id IS NOT NULL AND x.deleted_at IS NULL AND NOT x.hidden OFFSET 0) b
        WHERE g.tenant_id = of_tenant_id AND g.group_id = 0 AND weft._permission(g.batch_id, b.user_id, b.project_id) > 0
        ORDER BY g.completed_at, g.batch_id LIMIT limit_rows;
    END IF;
END $$;
