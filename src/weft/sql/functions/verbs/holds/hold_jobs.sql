-- hold_jobs: hold single jobs: waiting jobs are not claimed afterwards; running jobs continue.
-- Safe to repeat: yes.
-- Locks: as _lock_jobs; as _park_jobs; as _record_hold.
-- Plan: jobs by key.
-- Returns: per job `held`, or the word of its terminal state.  Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.hold_jobs(
    tenant_id int, batch_id bigint, job_ids int[], actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (job_id int, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    v_job int[];
BEGIN
    PERFORM weft._lock_jobs(hold_jobs.batch_id, hold_jobs.job_ids);
    WITH new AS (
        INSERT INTO weft.job_hold (batch_id, job_id, tenant_id, held_at)
        SELECT j.batch_id, j.job_id, j.tenant_id, hold_jobs.at
        FROM weft.job j
        WHERE j.batch_id = hold_jobs.batch_id
            AND j.job_id = ANY (hold_jobs.job_ids)
            AND j.state < STATE_SUCCESS
        ON CONFLICT DO NOTHING
        RETURNING job_id
    )
    SELECT array_agg(n.job_id ORDER BY n.job_id)
    INTO v_job
    FROM new n;
    PERFORM weft._record_hold(hold_jobs.batch_id, v_job, 'held', hold_jobs.actor, hold_jobs.at);
    PERFORM weft._park_jobs(hold_jobs.batch_id, v_job);
    RETURN QUERY
    SELECT j.job_id, CASE WHEN j.state < STATE_SUCCESS THEN 'held' ELSE s.word END
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    WHERE j.batch_id = hold_jobs.batch_id AND j.job_id = ANY (hold_jobs.job_ids)
    ORDER BY 1;
END $$;
