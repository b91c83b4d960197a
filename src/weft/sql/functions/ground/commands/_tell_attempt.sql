-- _tell_attempt: send a command to the attempt of a job that runs; its worker is told.
-- Safe to repeat: it is sent again.
-- Locks: job.
-- Plan: by key.
-- Returns: the attempt.
-- what: a word for the command, as in "a signal"; word: what the history says.
-- Raises WF101, WF102, WF218 (no process of it runs), WF260 (too many commands wait for it).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._tell_attempt(
    tenant_id int,
    of_batch_id bigint,
    of_job_id int,
    what text,
    signal int,
    message text,
    word text,
    actor text,
    at timestamptz
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_waiting int;
BEGIN
    PERFORM weft._check_job(of_batch_id, of_job_id);
    SELECT j.state, j.attempt, j.started_at, j.incarnation_id, s.word
    INTO v_job
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id
    FOR NO KEY UPDATE OF j;
    IF v_job.state <> STATE_RUNNING THEN
        PERFORM weft._fail(
            'WF218',
            format('job b%s.j%s does not run', of_batch_id, of_job_id),
            format('Its state is %s; %s is for the process of a running job.', v_job.word, what),
            format('`weft cancel b%s.j%s` ends a job in any state.', of_batch_id, of_job_id)
        );
    ELSIF v_job.started_at IS NULL THEN
        PERFORM weft._fail(
            'WF218',
            format('job b%s.j%s has not started', of_batch_id, of_job_id),
            'A worker has it, but its process is not known to run yet.',
            'Try again in a moment.'
        );
    END IF;
    SELECT count(*)
    INTO v_waiting
    FROM weft.job_command c
    WHERE c.batch_id = of_batch_id AND c.job_id = of_job_id AND c.extend_ms IS NULL;
    IF v_waiting >= 100 THEN
        PERFORM weft._fail(
            'WF260',
            format('job b%s.j%s has too many commands to be told', of_batch_id, of_job_id),
            format('%s signals and messages wait for its worker to confirm them.', v_waiting),
            'Try again when the worker is back; `weft workers` shows when it was last heard of.'
        );
    END IF;
    INSERT INTO weft.job_command (
        batch_id, job_id, tenant_id, attempt, incarnation_id, signal, message, word, actor, at
    )
    VALUES (
        of_batch_id, of_job_id, _tell_attempt.tenant_id, v_job.attempt, v_job.incarnation_id,
        _tell_attempt.signal, _tell_attempt.message, _tell_attempt.word, _tell_attempt.actor, _tell_attempt.at
    );
    PERFORM pg_notify('command', v_job.incarnation_id::text);
    RETURN v_job.attempt;
END $$;
