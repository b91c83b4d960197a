-- list_attempts: documents of a job's attempts, oldest first, including a live one.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_attempts(tenant_id int, batch_id bigint, job_id int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_job(list_attempts.batch_id, list_attempts.job_id);
    RETURN QUERY
    SELECT jsonb_build_object(
        'attempt', a.attempt, 'worker', a.worker, 'state', a.state, 'phase', a.phase, 'reason', a.reason,
        'exit_code', a.exit_code, 'signal', a.signal, 'message', a.message, 'claimed_at', a.claimed_at,
        'started_at', a.started_at, 'ended_at', a.ended_at, 'cpu_ms', a.cpu_ms,
        'memory_peak_bytes', a.memory_peak_bytes,
        'cost', round(a.cost, 12),
        'cost_by_resource', a.cost_by_resource,
        'log', jsonb_build_object(
            'stdout_bytes', a.stdout_bytes, 'stderr_bytes', a.stderr_bytes, 'truncated', a.truncated
        )
    ) || coalesce(weft._progress_of(list_attempts.batch_id, list_attempts.job_id, a.attempt), '{}')
    FROM weft._attempts(list_attempts.batch_id, list_attempts.job_id) a;
END $$;
