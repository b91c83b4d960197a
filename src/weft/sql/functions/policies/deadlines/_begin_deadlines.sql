-- _begin_deadlines: at the commit, make the deadlines of an update due. Jobs that are late already end here, so that none of them starts.
--   Those that wait for somebody wait from now on, if they have no parents; those that need not run end, too.
-- Safe to repeat: no.
-- Locks: deadline (its own: nobody else); job (nobody else: they are new, or locked by the caller); as _begin_waits;
--   as _find_unchanged; as _end_unchanged (nobody else); as _end_as_errors (rows above).
-- Plan: deadlines by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._begin_deadlines(of_batch_id bigint, from_job int, to_job int, at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
    v_late int[]; v_waits int[]; v_same int[]; v_n bigint;
BEGIN
    WITH due AS (
        UPDATE weft.job_deadline d SET due_at = nullif(d.latest_start, 'infinity')
        WHERE d.batch_id = of_batch_id AND d.first_job BETWEEN from_job AND to_job RETURNING d.first_job, d.timeout)
    SELECT count(*), array_agg(u.first_job) FILTER (WHERE u.timeout IS NOT NULL) INTO v_n, v_waits FROM due u;
    IF v_n = 0 THEN
        RETURN;
    END IF;
    v_late := ARRAY(
        SELECT j FROM weft.job_deadline d, generate_series(d.first_job, d.last_job) j
        WHERE d.batch_id = of_batch_id AND d.first_job BETWEEN from_job AND to_job AND d.latest_start <= _begin_deadlines.at
            AND d.succeeds IS NULL ORDER BY j);
    IF v_waits IS NOT NULL THEN
        PERFORM weft._begin_waits(of_batch_id, v_waits, _begin_deadlines.at);
    END IF;
    v_same := ARRAY(SELECT c.job_id FROM weft.job_cache c
        WHERE c.batch_id = of_batch_id AND c.job_id BETWEEN _begin_deadlines.from_job AND to_job ORDER BY 1);
    IF v_same <> '{}' THEN
        PERFORM weft._find_unchanged(of_batch_id, v_same);
        PERFORM weft._end_unchanged(of_batch_id, v_same, _begin_deadlines.at);
    END IF;
    IF v_late <> '{}' THEN
        PERFORM weft._end_as_errors(of_batch_id, v_late, _begin_deadlines.at, 'deadline', 'could not end by its deadline');
    END IF;
    PERFORM pg_notify('driver', 'deadlines');  -- it may sleep until a later date
END $$;
