-- signal_job: send a signal to the attempt of a job that runs; its worker is told.
-- Called by: Store.signal_job (api).   Safe to repeat: it is sent again.
-- Locks: job.   Plan: by key.
-- word: the name of the signal, for the history.
-- Returns: the attempt.  Raises WF101, WF102, WF218 (no process of it runs).
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.signal_job(tenant_id int, batch_id bigint, job_id int, signal int, word text, actor text,
    at timestamptz DEFAULT clock_timestamp()) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_job record;
BEGIN
    PERFORM weft._as_tenant(signal_job.tenant_id);
    PERFORM weft._check_job(signal_job.batch_id, signal_job.job_id);
    SELECT j.state, j.attempt, j.started_at, j.incarnation_id, s.word INTO v_job FROM weft.job j JOIN weft.job_state s USING (state)
    WHERE j.batch_id = signal_job.batch_id AND j.job_id = signal_job.job_id FOR NO KEY UPDATE OF j;
    IF v_job.state <> STATE_RUNNING THEN
        PERFORM weft._fail('WF218', format('job b%s.j%s does not run', signal_job.batch_id, signal_job.job_id),
            format('Its state is %s; a signal is for the process of a running job.', v_job.word),
            format('`weft cancel b%s.j%s` ends a job in any state.', signal_job.batch_id, signal_job.job_id));
    ELSIF v_job.started_at IS NULL THEN
        PERFORM weft._fail('WF218', format('job b%s.j%s has not started', signal_job.batch_id, signal_job.job_id),
            'A worker has it, but its process is not known to run yet.', 'Try again in a moment.');
    END IF;
    INSERT INTO weft.job_command (batch_id, job_id, tenant_id, attempt, incarnation_id, signal, word, actor, at)
    VALUES (signal_job.batch_id, signal_job.job_id, signal_job.tenant_id, v_job.attempt, v_job.incarnation_id, signal_job.signal,
        signal_job.word, signal_job.actor, signal_job.at);
    PERFORM pg_notify('command', v_job.incarnation_id::text);
    RETURN v_job.attempt;
END $$;
