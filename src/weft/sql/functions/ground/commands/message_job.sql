-- message_job: send a text to the attempt of a job that runs, which gets it as a file; its worker is told.
-- Safe to repeat: with a key (first_answer); else it is sent again.
-- Locks: as _tell_attempt.
-- Plan: by key.
-- Returns: the attempt.  Raises as _tell_attempt.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.message_job(
    tenant_id int,
    batch_id bigint,
    job_id int,
    message text,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RETURN weft._tell_attempt(
        message_job.tenant_id, message_job.batch_id, message_job.job_id, 'a message', NULL,
        message_job.message,
        format('a message of %s B', octet_length(message_job.message)),
        message_job.actor,
        message_job.at
    );
END $$;
