-- _changed_foreign: the batches of jobs of a door that the caller sees, and when they changed: limit_rows of
--   those in each state, the last or the first of them, and all that changed since the last fold.
-- Plan: along an index in their order; as _unfolded_batches; and all that were granted.
-- states: only these; NULL: all.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._changed_foreign(
    of_tenant_id int, of_door text, states smallint[], last_first boolean, limit_rows int
) RETURNS TABLE (batch_id bigint, changed_at timestamptz)
LANGUAGE plpgsql STABLE PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_unfolded bigint[] := ARRAY(SELECT u.id FROM weft._unfolded_batches(of_tenant_id) u (id));
    v_caller int := weft._caller_id();
    v_states smallint[] := coalesce(states, ARRAY(SELECT s.state FROM weft.job_state s));
BEGIN
    RETURN QUERY
    SELECT b.batch_id, weft._changed_at(b.batch_id, 1)
    FROM unnest(v_unfolded) o (id)
    CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = o.id OFFSET 0) b
    WHERE b.door = of_door
        AND b.foreign_id IS NOT NULL
        AND b.deleted_at IS NULL
        AND NOT b.hidden
        AND (v_caller IS NULL OR weft._own_permission(b.batch_id, b.user_id) > 0)
        AND (
            states IS NULL
                OR EXISTS (
                    SELECT
                    FROM weft.job j
                    WHERE j.batch_id = b.batch_id AND j.job_id = 1 AND j.state = ANY (states)
                )
        );
    RETURN QUERY EXECUTE format(
        $q$
        SELECT e.batch_id, e.changed_at FROM unnest($4) s (state) CROSS JOIN LATERAL (
            SELECT x.batch_id, x.changed_at FROM weft.foreign_state x
            CROSS JOIN LATERAL (SELECT y.hidden, y.deleted_at FROM weft.batch y WHERE y.batch_id = x.batch_id OFFSET 0) b
            WHERE x.tenant_id = $1 AND %2$s x.door = $3 AND x.state = s.state AND x.batch_id <> ALL ($2)
                AND NOT b.hidden AND b.deleted_at IS NULL
            ORDER BY x.changed_at %1$s, x.batch_id %1$s LIMIT $5) e$q$,
        CASE WHEN last_first THEN 'DESC' ELSE 'ASC' END,
        CASE WHEN v_caller IS NOT NULL THEN 'x.user_id = $6 AND' END
    ) USING of_tenant_id, v_unfolded, of_door, v_states, limit_rows, v_caller;
    RETURN QUERY
    SELECT e.batch_id, e.changed_at
    FROM weft.batch_grant g
    CROSS JOIN LATERAL (SELECT x.* FROM weft.foreign_state x WHERE x.batch_id = g.batch_id OFFSET 0) e
    CROSS JOIN LATERAL (
        SELECT y.hidden, y.deleted_at FROM weft.batch y WHERE y.batch_id = g.batch_id OFFSET 0
    ) b
    WHERE g.user_id = v_caller
        AND g.job_id = 0
        AND e.user_id <> g.user_id
        AND e.door = of_door
        AND e.state = ANY (v_states)
        AND e.batch_id <> ALL (v_unfolded)
        AND NOT b.hidden
        AND b.deleted_at IS NULL;
END $$;
