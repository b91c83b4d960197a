-- _end_waits: end those of these jobs of a batch that need not run; if there are none, those whose time to
--   wait for somebody or for a date is over; if no job waits so, those that can no longer end by their
--   deadlines. What waits for its parents first goes on; it is noted as late when they have ended.
-- Safe to repeat: yes, only waiting jobs are changed.
-- For: sweep_deadlines.
-- Locks: job (in key order); as _end_unchanged (instead); as _end_without_attempt (rows above).
-- Plan: deadlines and jobs by key.
-- Returns: the others, for another call.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_waits(of_batch_id bigint, of_job_ids int[], at timestamptz) RETURNS int[]
LANGUAGE plpgsql AS $$
DECLARE
    v_waits int[];
    v_good int[];
    v_bad int[];
    v_same int[] := weft._end_unchanged(of_batch_id, of_job_ids, _end_waits.at);
BEGIN
    IF v_same <> '{}' THEN
        RETURN ARRAY(
            SELECT x
            FROM unnest(of_job_ids) x
            WHERE x <> ALL (v_same)
                OR EXISTS (  -- or it is parked anew
                    SELECT
                    FROM weft.ready_job r
                    JOIN weft.job j
                    USING (batch_id, job_id)
                    WHERE r.batch_id = of_batch_id AND r.job_id = x AND r.gate_set_id = 1 AND j.attempt = 0
                )
            ORDER BY 1
        );
    END IF;
    SELECT
        array_agg(w.job_id),
        array_agg(w.job_id) FILTER (WHERE w.succeeds AND w.state = STATE_READY),
        array_agg(w.job_id) FILTER (WHERE NOT w.succeeds AND w.state = STATE_READY)
    INTO v_waits, v_good, v_bad
    FROM (
        SELECT j.job_id, j.state, d.succeeds
        FROM weft.job_deadline d
        CROSS JOIN LATERAL (
            SELECT y.job_id, y.state
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = d.first_job
            FOR UPDATE
            OFFSET 0
        ) j
        WHERE d.batch_id = of_batch_id AND d.first_job = ANY (of_job_ids) AND d.succeeds IS NOT NULL
        ORDER BY d.first_job
    ) w;
    IF v_waits IS NULL THEN
        PERFORM weft._end_as_errors(
            of_batch_id, of_job_ids, _end_waits.at, 'deadline', 'could not end by its deadline'
        );
        RETURN '{}';
    END IF;
    IF v_bad IS NOT NULL THEN
        PERFORM weft._end_without_attempt(
            of_batch_id, v_bad, _end_waits.at, 'unanswered', 'nobody answered in time'
        );
    END IF;
    IF v_good IS NOT NULL THEN
        PERFORM weft._end_without_attempt(
            of_batch_id, v_good, _end_waits.at, 'waited', 'its time has come', result => '{}'
        );
    END IF;
    RETURN ARRAY(SELECT x FROM unnest(of_job_ids) x EXCEPT SELECT x FROM unnest(v_waits) x ORDER BY 1);
END $$;
