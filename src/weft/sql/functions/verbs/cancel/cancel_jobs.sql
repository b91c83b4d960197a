-- cancel_jobs: cancel single jobs: waiting jobs end now; the workers of running jobs are notified.
-- Safe to repeat: yes.
-- Locks: as _lock_jobs; as _end_waiting; as _announce.
-- Plan: jobs by key.
-- Returns: per job cancelled, cancelling, or the word of its terminal state.  Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.cancel_jobs(
    tenant_id int, batch_id bigint, job_ids int[], actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (job_id int, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    v_waiting int[];
    v_running int[];
BEGIN
    PERFORM weft._lock_jobs(cancel_jobs.batch_id, cancel_jobs.job_ids);
    SELECT
        array_agg(j.job_id) FILTER (WHERE j.state < STATE_SUCCESS AND j.state <> STATE_RUNNING),
        array_agg(j.job_id) FILTER (WHERE j.state = STATE_RUNNING)
    INTO v_waiting, v_running
    FROM weft.job j
    WHERE j.batch_id = cancel_jobs.batch_id AND j.job_id = ANY (cancel_jobs.job_ids);
    INSERT INTO weft.job_change (batch_id, job_id, tenant_id, at, from_state, to_state, actor, message)
    SELECT
        j.batch_id,
        j.job_id,
        j.tenant_id,
        cancel_jobs.at,
        j.state,
        STATE_CANCELLED,
        cancel_jobs.actor,
        'cancelled by its user'
    FROM weft.job j
    WHERE j.batch_id = cancel_jobs.batch_id AND j.job_id = ANY (v_waiting);
    PERFORM weft._end_waiting(cancel_jobs.batch_id, v_waiting, cancel_jobs.at);
    INSERT INTO weft.job_cancel (batch_id, job_id, tenant_id, cancelled_at, actor)
    SELECT cancel_jobs.batch_id, x, cancel_jobs.tenant_id, cancel_jobs.at, cancel_jobs.actor
    FROM unnest(v_running) x
    ON CONFLICT DO NOTHING;
    IF v_running IS NOT NULL THEN
        PERFORM pg_notify('cancel', cancel_jobs.batch_id::text);
    END IF;
    PERFORM weft._announce();
    RETURN QUERY
    SELECT
        j.job_id,
        CASE
            WHEN j.job_id = ANY (v_waiting) THEN 'cancelled'
            WHEN j.state = STATE_RUNNING THEN 'cancelling'
            ELSE s.word
        END
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    WHERE j.batch_id = cancel_jobs.batch_id AND j.job_id = ANY (cancel_jobs.job_ids)
    ORDER BY 1;
END $$;
