-- _walk_core: bring the core of a job to the state that a status names, along allowed edges, if a person may
--   do that.
-- Safe to repeat: yes.
-- For: change_status, which has locked batch and job.
-- Locks: as _before_retry (by the caller); batch (by the caller); job (by the caller); as _retry (the same
--   rows); as _release_jobs (instead); as _end_as_errors (instead); as _announce.
-- Plan: theirs.
-- Nobody makes a core queued, running, blocked or a success by hand, nor a running one fail: then it stays as
--   it is.
-- Raises WF242 (its queue takes nothing), WF245 (rows that a retry needs are locked elsewhere).
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._walk_core(
    of_job weft.job, to_states smallint[], actor text, message text, at timestamptz
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF of_job.state = ANY (to_states) THEN
        RETURN;
    ELSIF to_states && ARRAY[STATE_PENDING, STATE_READY]::smallint[] AND of_job.state > STATE_SUCCESS THEN
        IF NOT weft._retry(of_job.batch_id, ARRAY[of_job.job_id], _walk_core.actor, _walk_core.at) THEN
            PERFORM weft._fail(
                'WF245',
                format('job b%s.j%s could not be made ready', of_job.batch_id, of_job.job_id),
                'Other jobs that depend on it are being changed.',
                'Try it again.'
            );
        END IF;
    ELSIF to_states && ARRAY[STATE_PENDING, STATE_READY]::smallint[] AND of_job.state = STATE_BLOCKED THEN
        IF weft._takes_none_back(of_job.tenant_id, of_job.shape_id) THEN
            PERFORM weft._fail(
                'WF242',
                format('job b%s.j%s cannot be made ready', of_job.batch_id, of_job.job_id),
                'Its queue is closed or was deleted.',
                'Open the queue, or set a status in which the job does not wait for a worker.'
            );
        END IF;
        PERFORM weft._release_jobs(
            ARRAY[of_job.batch_id], ARRAY[of_job.job_id], _walk_core.at, _walk_core.actor, 'status'
        );
    ELSIF to_states && ARRAY[STATE_FAILED, STATE_ERROR]::smallint[]
        AND of_job.state < STATE_SUCCESS
        AND of_job.state <> STATE_RUNNING
    THEN
        PERFORM weft._end_as_errors(
            of_job.batch_id,
            ARRAY[of_job.job_id],
            _walk_core.at,
            'status',
            coalesce(_walk_core.message, 'its status was set')
        );
    END IF;
    PERFORM weft._announce();
END $$;
