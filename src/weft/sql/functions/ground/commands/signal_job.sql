-- signal_job: send a signal to the attempt of a job that runs; its worker is told.
-- Safe to repeat: it is sent again.   Locks: as _attempt_to_tell.   Plan: by key.
-- word: the name of the signal, for the history.
-- Returns: the attempt.  Raises as _attempt_to_tell.   Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.signal_job(tenant_id int, batch_id bigint, job_id int, signal int, word text, actor text,
    at timestamptz DEFAULT clock_timestamp()) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_to record;
BEGIN
    SELECT * INTO v_to FROM weft._attempt_to_tell(signal_job.batch_id, signal_job.job_id, 'a signal');
    INSERT INTO weft.job_command (batch_id, job_id, tenant_id, attempt, incarnation_id, signal, word, actor, at)
    VALUES (signal_job.batch_id, signal_job.job_id, signal_job.tenant_id, v_to.attempt, v_to.incarnation_id, signal_job.signal,
        signal_job.word, signal_job.actor, signal_job.at);
    PERFORM pg_notify('command', v_to.incarnation_id::text);
    RETURN v_to.attempt;
END $$;
