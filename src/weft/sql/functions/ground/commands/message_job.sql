-- message_job: send a text to the attempt of a job that runs, which gets it as a file; its worker is told.
-- Safe to repeat: it is sent again.   Locks: as _attempt_to_tell.   Plan: by key.   Returns: the attempt.  Raises as _attempt_to_tell.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.message_job(tenant_id int, batch_id bigint, job_id int, message text, actor text,
    at timestamptz DEFAULT clock_timestamp()) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_to record;
BEGIN
    SELECT * INTO v_to FROM weft._attempt_to_tell(message_job.batch_id, message_job.job_id, 'a message');
    INSERT INTO weft.job_command (batch_id, job_id, tenant_id, attempt, incarnation_id, message, word, actor, at)
    VALUES (message_job.batch_id, message_job.job_id, message_job.tenant_id, v_to.attempt, v_to.incarnation_id, message_job.message,
        format('a message of %s B', octet_length(message_job.message)), message_job.actor, message_job.at);
    PERFORM pg_notify('command', v_to.incarnation_id::text);
    RETURN v_to.attempt;
END $$;
