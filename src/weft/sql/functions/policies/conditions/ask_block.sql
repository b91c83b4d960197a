-- ask_block: note what a live attempt asks to wait for. Its end, if it is an external error, makes it so
--   (_join_conditions).
-- Safe to repeat: yes, the last one counts.
-- Locks: job (by the worker, which reports the end afterwards).
-- Plan: by key.
-- Returns: whether this worker has the attempt.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.ask_block(
    incarnation_id int, batch_id bigint, job_id int, attempt int, kind text, tester text, parameters jsonb
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.block_request (batch_id, job_id, attempt, tenant_id, kind, tester, parameters)
    SELECT
        j.batch_id, j.job_id, j.attempt, j.tenant_id, ask_block.kind, ask_block.tester, ask_block.parameters
    FROM weft.job j
    WHERE j.batch_id = ask_block.batch_id
        AND j.job_id = ask_block.job_id
        AND j.attempt = ask_block.attempt
        AND j.state = STATE_RUNNING
        AND j.incarnation_id = ask_block.incarnation_id
    ON CONFLICT (batch_id, job_id) DO UPDATE
    SET
        attempt = excluded.attempt,
        kind = excluded.kind,
        tester = excluded.tester,
        parameters = excluded.parameters;
    RETURN FOUND;
END $$;
