-- _end_waiting_as_errors: end those of these jobs of a batch that wait, as errors of a kind (`deadline`, `machine`, `blocked`,
--   `overdue`); each is a failure. Nobody is told.
-- Called by: _end_as_errors, _end_unreturned.   Safe to repeat: yes, only waiting jobs are changed.
-- Locks: as _end_waiting; as _add_dead_letters; as _count_failures.   Plan: jobs by key.
-- Returns: whether it ended any.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_waiting_as_errors(of_batch_id bigint, of_job_ids int[], at timestamptz, kind text, message text)
RETURNS boolean LANGUAGE plpgsql
AS $$
DECLARE
    v_job int[];
BEGIN
    IF weft._end_waiting(of_batch_id, of_job_ids, _end_waiting_as_errors.at, kind, message) = 0 THEN
        RETURN false;
    END IF;
    v_job := ARRAY(SELECT j.job_id FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = ANY (of_job_ids)
        AND j.state = STATE_ERROR AND j.cancelled_at = _end_waiting_as_errors.at);
    PERFORM weft._add_dead_letters(array_fill(of_batch_id, ARRAY[cardinality(v_job)]), v_job,
        array_fill(CASE kind WHEN 'machine' THEN REASON_SYSTEM WHEN 'blocked' THEN REASON_BLOCKED WHEN 'overdue' THEN REASON_OVERDUE
            ELSE REASON_DEADLINE END::smallint, ARRAY[cardinality(v_job)]), NULL, NULL,
        array_fill(left(regexp_replace(_end_waiting_as_errors.message, '\d+', '<n>', 'g'), 200), ARRAY[cardinality(v_job)]),
            _end_waiting_as_errors.at);
    IF EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = of_batch_id) THEN
        PERFORM weft._count_failures(array_fill(of_batch_id, ARRAY[cardinality(v_job)]), v_job,
            array_fill(STATE_ERROR::smallint, ARRAY[cardinality(v_job)]), _end_waiting_as_errors.at);
    END IF;
    RETURN true;
END $$;
