-- _changed_foreign: the batches of jobs of a door that the caller sees, and when they changed: all that are open, and limit_rows of those
--   that are complete, the last or the first of them.
-- Called by: list_foreign_jobs.   Safe to repeat: yes, it only reads.
-- Plan: open ones of the tenant by index, and the deltas that are not folded; complete ones along an index in their order, whose dates are
--   taken from there: a look at the attempts of each would be ten times as slow.
-- states: only these; NULL: all.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._changed_foreign(of_tenant_id int, of_door text, states smallint[], last_first boolean, limit_rows int)
RETURNS TABLE (batch_id bigint, changed_at timestamptz) LANGUAGE plpgsql STABLE PLAN_IN_ORDER PLAN_ONCE
AS $$
#variable_conflict use_column
DECLARE
    v_open bigint[] := ARRAY(
        SELECT c.batch_id FROM weft.group_count c WHERE c.tenant_id = of_tenant_id AND c.group_id = 0 AND NOT c.complete
        UNION
        SELECT d.batch_id FROM weft.fold f JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto)
            AND NOT pg_visible_in_snapshot(d.xid, f.upto) WHERE d.tenant_id = of_tenant_id);
    v_sees_all boolean := weft._caller_id() IS NULL;
    v_ends boolean := states IS NULL OR states && ARRAY[STATE_SUCCESS, STATE_FAILED, STATE_ERROR, STATE_CANCELLED]::smallint[];
BEGIN
    RETURN QUERY SELECT b.batch_id, weft._changed_at(b.batch_id, 1) FROM weft.batch b
    WHERE b.batch_id = ANY (v_open) AND b.door = of_door AND b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden
        AND (v_sees_all OR weft._own_permission(b.batch_id, b.user_id) > 0)
        AND (states IS NULL OR EXISTS (SELECT FROM weft.job j WHERE j.batch_id = b.batch_id AND j.job_id = 1 AND j.state = ANY (states)));
    IF v_ends THEN
        RETURN QUERY EXECUTE format($q$
            SELECT g.batch_id, g.completed_at FROM weft.group_completion g
            CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = g.batch_id OFFSET 0) b
            WHERE g.tenant_id = $1 AND g.group_id = 0 AND g.batch_id <> ALL ($2)
                AND b.door = $3 AND b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden
                AND ($6 OR weft._own_permission(b.batch_id, b.user_id) > 0)
                AND ($4 IS NULL OR EXISTS (SELECT FROM weft.job j
                    WHERE j.batch_id = g.batch_id AND j.job_id = 1 AND j.state = ANY ($4)))
                AND NOT EXISTS (SELECT FROM weft.group_completion y WHERE y.batch_id = g.batch_id AND y.group_id = 0
                    AND y.completion > g.completion)
            ORDER BY g.completed_at %1$s, g.batch_id %1$s LIMIT $5 $q$, CASE WHEN last_first THEN 'DESC' ELSE 'ASC' END)
        USING of_tenant_id, v_open, of_door, states, limit_rows, v_sees_all;
    END IF;
END $$;
