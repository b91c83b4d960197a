-- _changed_foreign: the batches of jobs of a door that the caller sees, and when they changed: all that are open, and limit_rows of those
--   that are complete, the last or the first of them, in each state.
-- Plan: as _incomplete_batches; complete ones along an index in their order, whose dates are taken from there: a look at the attempts
--   of each would be ten times as slow; and all that were granted.
-- states: only these; NULL: all.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._changed_foreign(of_tenant_id int, of_door text, states smallint[], last_first boolean, limit_rows int)
RETURNS TABLE (batch_id bigint, changed_at timestamptz) LANGUAGE plpgsql STABLE PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_open bigint[] := weft._incomplete_batches(of_tenant_id, states);
    v_caller int := weft._caller_id();
    v_ends smallint[] := ARRAY(SELECT s.state FROM weft.job_state s
        WHERE s.state >= STATE_SUCCESS AND (states IS NULL OR s.state = ANY (states)));
BEGIN
    RETURN QUERY SELECT b.batch_id, weft._changed_at(b.batch_id, 1) FROM unnest(v_open) o (id)
    CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = o.id OFFSET 0) b
    WHERE b.door = of_door AND b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden
        AND (v_caller IS NULL OR weft._own_permission(b.batch_id, b.user_id) > 0)
        AND (states IS NULL OR EXISTS (SELECT FROM weft.job j WHERE j.batch_id = b.batch_id AND j.job_id = 1 AND j.state = ANY (states)));
    RETURN QUERY EXECUTE format($q$
        SELECT e.batch_id, e.ended_at FROM unnest($4) s (state) CROSS JOIN LATERAL (
            SELECT x.batch_id, x.ended_at FROM weft.foreign_end x
            CROSS JOIN LATERAL (SELECT y.hidden, y.deleted_at FROM weft.batch y WHERE y.batch_id = x.batch_id OFFSET 0) b
            WHERE x.tenant_id = $1 AND %2$s x.door = $3 AND x.state = s.state AND x.batch_id <> ALL ($2)
                AND NOT b.hidden AND b.deleted_at IS NULL
            ORDER BY x.ended_at %1$s, x.batch_id %1$s LIMIT $5) e$q$,
        CASE WHEN last_first THEN 'DESC' ELSE 'ASC' END, CASE WHEN v_caller IS NOT NULL THEN 'x.user_id = $6 AND' END)
    USING of_tenant_id, v_open, of_door, v_ends, limit_rows, v_caller;
    RETURN QUERY SELECT e.batch_id, e.ended_at FROM weft.batch_grant g
    CROSS JOIN LATERAL (SELECT x.* FROM weft.foreign_end x WHERE x.batch_id = g.batch_id OFFSET 0) e
    CROSS JOIN LATERAL (SELECT y.hidden, y.deleted_at FROM weft.batch y WHERE y.batch_id = g.batch_id OFFSET 0) b
    WHERE g.user_id = v_caller AND g.job_id = 0 AND e.user_id <> g.user_id AND e.door = of_door AND e.state = ANY (v_ends)
        AND e.batch_id <> ALL (v_open) AND NOT b.hidden AND b.deleted_at IS NULL;
END $$;
