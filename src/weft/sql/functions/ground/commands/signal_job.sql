-- signal_job: send a signal to the attempt of a job that runs; its worker is told.
-- Safe to repeat: with a key (first_answer); else it is sent again.
-- Locks: as _tell_attempt.
-- Plan: by key.
-- word: the name of the signal, for the history.
-- Returns: the attempt.  Raises as _tell_attempt.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.signal_job(
    tenant_id int,
    batch_id bigint,
    job_id int,
    signal int,
    word text,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RETURN weft._tell_attempt(
        signal_job.tenant_id, signal_job.batch_id, signal_job.job_id, 'a signal', signal_job.signal, NULL,
        signal_job.word, signal_job.actor, signal_job.at
    );
END $$;
