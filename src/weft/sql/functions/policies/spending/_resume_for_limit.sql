-- _resume_for_limit: one bounded step: release groups that a limit held. The sweep of holds offers their jobs
--   again. What it admitted is forgotten.
-- Safe to repeat: yes.
-- Returns: how many groups or admissions; 0: nothing is left.
-- Locks: batch (exclusive, in order); hold_row; as _announce; admission (nobody else).
-- Plan: held groups and admissions by the index of
--   their limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._resume_for_limit(of_limit weft.spend_limit, limit_rows int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_batches bigint[];
    v_groups int[];
    v_paused boolean[];
    v_batch bigint;
    v_at timestamptz := clock_timestamp();
    v_n int;
BEGIN
    SELECT
        array_agg(x.batch_id ORDER BY x.batch_id),
        array_agg(x.group_id ORDER BY x.batch_id),
        array_agg(NOT x.admits ORDER BY x.batch_id)
    INTO v_batches, v_groups, v_paused
    FROM (
        SELECT h.batch_id, h.group_id, h.admits
        FROM weft.group_hold h
        WHERE h.limit_id = of_limit.limit_id AND h.limit_id <> 0 AND h.released_at IS NULL
        ORDER BY h.batch_id
        LIMIT limit_rows
    ) x;
    IF v_batches IS NULL THEN
        DELETE FROM weft.admission a
        WHERE a.ctid = ANY (
            ARRAY(SELECT x.ctid FROM weft.admission x WHERE x.limit_id = of_limit.limit_id LIMIT limit_rows)
        );
        GET DIAGNOSTICS v_n = ROW_COUNT;
        RETURN v_n;
    END IF;
    FOREACH v_batch IN ARRAY v_batches LOOP
        PERFORM pg_advisory_xact_lock(v_batch);
    END LOOP;
    UPDATE weft.group_hold h
    SET released_at = v_at, swept = false, sweep_job = 0
    WHERE h.batch_id = ANY (v_batches) AND h.limit_id = of_limit.limit_id AND h.released_at IS NULL;
    IF true = ANY (v_paused) THEN
        PERFORM weft._record_limit(array_agg(t.b), array_agg(t.g), of_limit, 'resumed', v_at)
        FROM unnest(v_batches, v_groups, v_paused) t (b, g, was_paused)
        WHERE t.was_paused;
    END IF;
    PERFORM pg_notify('driver', 'hold');
    PERFORM weft._announce();
    RETURN cardinality(v_batches);
END $$;
