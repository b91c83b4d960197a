-- _foreign_total: how many jobs of a door the caller sees: those that a list shows.
-- Plan: sums of the door by index; those in some states also as _unfolded_batches; grants of the caller.
-- states: only these; NULL: all.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._foreign_total(of_tenant_id int, of_door text, states smallint[])
RETURNS bigint LANGUAGE plpgsql STABLE PLAN_BY_KEY AS $$
DECLARE
    v_caller int := weft._caller_id();
    v_n bigint;
BEGIN
    v_n := (
        SELECT count(*)
        FROM weft.batch_grant g
        CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = g.batch_id OFFSET 0) b
        WHERE g.user_id = v_caller
            AND g.job_id = 0
            AND b.door = of_door
            AND b.foreign_id IS NOT NULL
            AND b.deleted_at IS NULL
            AND NOT b.hidden
            AND b.user_id <> g.user_id
            AND (
                states IS NULL
                    OR EXISTS (
                        SELECT
                        FROM weft.job j
                        WHERE j.batch_id = b.batch_id AND j.job_id = 1 AND j.state = ANY (states)
                    )
            )
    );
    v_n := v_n + coalesce(
        (
            SELECT sum(f.n)
            FROM weft.foreign_count f
            WHERE f.tenant_id = of_tenant_id
                AND f.door = of_door
                AND (v_caller IS NULL OR f.user_id = v_caller)
                AND CASE WHEN states IS NULL THEN f.state IS NULL ELSE f.state = ANY (states) END
        ),
        0
    );
    IF states IS NULL THEN
        RETURN v_n;
    END IF;
    -- Not those that lists leave out, and those that changed since the last fold as they are now.
    v_n := v_n - (
        SELECT count(*)
        FROM weft.batch b
        JOIN weft.foreign_state e ON e.batch_id = b.batch_id
        WHERE b.tenant_id = of_tenant_id
            AND b.door = of_door
            AND b.foreign_id IS NOT NULL
            AND (b.hidden OR b.deleted_at IS NOT NULL)
            AND (v_caller IS NULL OR b.user_id = v_caller)
            AND e.state = ANY (states)
    );
    RETURN v_n + (
        SELECT coalesce(sum((j.state = ANY (states))::int - coalesce(e.state = ANY (states), false)::int), 0)
        FROM weft._unfolded_batches(of_tenant_id) o (id)
        CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = o.id OFFSET 0) b
        JOIN weft.job j ON j.batch_id = o.id AND j.job_id = 1
        LEFT JOIN weft.foreign_state e ON e.batch_id = o.id
        WHERE b.door = of_door
            AND b.foreign_id IS NOT NULL
            AND b.deleted_at IS NULL
            AND NOT b.hidden
            AND (v_caller IS NULL OR b.user_id = v_caller)
    );
END $$;
