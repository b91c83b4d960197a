-- _sweep_cores: one bounded step towards a first quota of running cores: hide ranges of ready jobs; or give
--   jobs that were there before the quota its gates, in the order of their batches and numbers; or show
--   ranges again, if the quota has gone.
-- Safe to repeat: yes, its position moves with the work.
-- Locks: as _core_gates; core_sweep; as _give_core_gates; as _show_ranges (instead); range (SKIP LOCKED).
-- Plan: as _open_batches, at most 1,000 batches; ranges by batch; as _give_core_gates.
-- Returns: whether there is more to do.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._sweep_cores(limit_jobs int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_sweep weft.core_sweep;
    v_page bigint[];
    v_own bigint[];
    v_cores jsonb;
    v_last int;
    v_next bigint;
    v_is_whole boolean := true;
BEGIN
    SELECT s.*
    INTO v_sweep
    FROM weft.core_sweep s
    WHERE s.done_at IS NULL
    ORDER BY s.tenant_id, s.user_id
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_page := weft._open_batches(v_sweep.tenant_id, v_sweep.next_batch, 1000);
    v_own := ARRAY(
        SELECT x
        FROM unnest(v_page) x
        CROSS JOIN LATERAL (SELECT y.user_id, y.removing FROM weft.batch y WHERE y.batch_id = x OFFSET 0) b
        WHERE NOT b.removing AND (v_sweep.user_id <= 0 OR b.user_id = v_sweep.user_id)
        ORDER BY 1
        LIMIT 101
    );
    IF v_sweep.pass = 'gate' AND v_own <> '{}' THEN
        v_cores := weft._core_gates(v_sweep.tenant_id, NULL, v_own[1]);
    END IF;
    PERFORM FROM weft.core_sweep s WHERE s = v_sweep FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN true;  -- the quota was taken away meanwhile, or set again
    END IF;
    v_next := CASE WHEN cardinality(v_page) = 1000 THEN v_page[1000] + 1 END;
    IF v_sweep.pass = 'hide' THEN
        UPDATE weft.runnable r
        SET gate_set_id = 1
        FROM (
            SELECT x.runnable_id
            FROM weft.runnable x
            WHERE x.batch_id = ANY (v_own[1:100]) AND x.gate_set_id <> 1
            FOR UPDATE SKIP LOCKED
        ) t
        WHERE r.runnable_id = t.runnable_id;
        -- The fold may be moving one: again.
        v_next := CASE
            WHEN EXISTS (
                SELECT FROM weft.runnable x WHERE x.batch_id = ANY (v_own[1:100]) AND x.gate_set_id <> 1
            )
                THEN v_own[1]
            ELSE coalesce(v_own[101], v_next)
        END;
    ELSIF v_own <> '{}' THEN
        IF v_sweep.pass = 'gate' THEN
            v_last := weft._give_core_gates(
                v_sweep.tenant_id,
                v_own[1],
                v_cores,
                CASE WHEN v_own[1] = v_sweep.next_batch THEN v_sweep.last_job ELSE 0 END,
                limit_jobs
            );
        ELSE
            v_is_whole := weft._show_ranges(v_own[1]);
        END IF;
        v_next := v_own[1] + (v_last IS NULL AND v_is_whole)::int;
    END IF;
    UPDATE weft.core_sweep s
    SET
        pass = CASE WHEN v_next IS NULL THEN 'gate' ELSE s.pass END,
        next_batch = coalesce(v_next, 0),
        last_job = coalesce(v_last, 0),
        stepped_at = clock_timestamp(),
        done_at = CASE WHEN v_next IS NULL AND s.pass = 'gate' THEN clock_timestamp() END
    WHERE s = v_sweep AND (s.pass <> 'show' OR v_next IS NOT NULL);
    DELETE FROM weft.core_sweep s WHERE s = v_sweep AND s.pass = 'show' AND v_next IS NULL;
    RETURN true;
END $$;
