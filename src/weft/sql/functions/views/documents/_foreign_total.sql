-- _foreign_total: how many jobs of a door the caller sees: those that a list shows.
-- Plan: sums of the door by index; those in some states also as _incomplete_batches; grants of the caller.
-- states: only these; NULL: all.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._foreign_total(of_tenant_id int, of_door text, states smallint[]) RETURNS bigint
LANGUAGE plpgsql STABLE PLAN_BY_KEY AS $$
DECLARE
    v_caller int := weft._caller_id(); v_open bigint[]; v_n bigint;
    v_ends smallint[] := ARRAY(SELECT s FROM unnest(states) s WHERE s >= STATE_SUCCESS);
BEGIN
    v_n := (SELECT count(*) FROM weft.batch_grant g
        CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = g.batch_id OFFSET 0) b
        WHERE g.user_id = v_caller AND g.job_id = 0 AND b.door = of_door AND b.foreign_id IS NOT NULL AND b.deleted_at IS NULL
          AND NOT b.hidden AND b.user_id <> g.user_id AND (states IS NULL OR EXISTS (SELECT FROM weft.job j
            WHERE j.batch_id = b.batch_id AND j.job_id = 1 AND j.state = ANY (states))));
    v_n := v_n + coalesce((SELECT sum(f.n) FROM weft.foreign_count f
        WHERE f.tenant_id = of_tenant_id AND f.door = of_door AND (v_caller IS NULL OR f.user_id = v_caller)
            AND CASE WHEN states IS NULL THEN f.state IS NULL ELSE f.state = ANY (v_ends) END), 0);
    IF states IS NULL THEN
        RETURN v_n;
    END IF;
    v_open := weft._incomplete_batches(of_tenant_id, states);
    -- Not those that lists leave out, and not as they ended once if they are open again.
    v_n := v_n - (SELECT count(*) FROM weft.batch b JOIN weft.foreign_end e ON e.batch_id = b.batch_id
        WHERE b.tenant_id = of_tenant_id AND b.door = of_door AND b.foreign_id IS NOT NULL AND (b.hidden OR b.deleted_at IS NOT NULL)
            AND (v_caller IS NULL OR b.user_id = v_caller) AND e.state = ANY (v_ends));
    RETURN v_n + (SELECT coalesce(sum((j.state = ANY (states))::int - coalesce(e.state = ANY (v_ends), false)::int), 0)
        FROM unnest(v_open) o (id)
        CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = o.id OFFSET 0) b
        JOIN weft.job j ON j.batch_id = o.id AND j.job_id = 1
        LEFT JOIN weft.foreign_end e ON e.batch_id = o.id
        WHERE b.door = of_door AND b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden
            AND (v_caller IS NULL OR b.user_id = v_caller));
END $$;
