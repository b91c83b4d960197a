-- _end_as_errors: end those of these jobs of a batch that wait, as errors of a kind (`deadline`, `machine`,
--   `blocked`, `overdue`, `status`, `refused`, `unanswered`); each is a failure.
-- For: _after_visible, _end_waits, _end_without_attempt, postpone_conditions, fail_conditions, _walk_core;
--   once in a transaction.
-- Safe to repeat: yes, only waiting jobs are changed.
-- Locks: job (in key order); as _count_errors; as _end_waiting_as_errors; as _announce.
-- Plan: jobs by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_as_errors(
    of_batch_id bigint, of_job_ids int[], at timestamptz, kind text, message text, actor text DEFAULT 'weft'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_job int[];
BEGIN
    SELECT array_agg(l.job_id)
    INTO v_job
    FROM (SELECT DISTINCT x FROM unnest(of_job_ids) x ORDER BY 1) d
    CROSS JOIN LATERAL (  -- OFFSET 0: as in _end_waiting
        SELECT j.job_id, j.state
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = d.x
        FOR UPDATE
        OFFSET 0
    ) l
    WHERE l.state IN (STATE_PENDING, STATE_READY, STATE_QUEUED, STATE_CREATING, STATE_BLOCKED);
    IF v_job IS NOT NULL THEN
        PERFORM weft._count_errors(of_batch_id, v_job, _end_as_errors.at);
        PERFORM weft._end_waiting_as_errors(of_batch_id, v_job, _end_as_errors.at, kind, message, actor);
        PERFORM weft._announce();
    END IF;
END $$;
