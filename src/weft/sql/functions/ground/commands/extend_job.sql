-- extend_job: give a job more time: its running attempt, and those that follow. The workers are told.
-- Safe to repeat: with a key (first_answer); else it is extended again.
-- Locks: job; job_command (with the job); as _announce.
-- Plan: by key.
-- Returns: by how much it is extended now, by this call and earlier ones.  Raises WF101, WF102, WF219 (it has
--   ended).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.extend_job(
    tenant_id int,
    batch_id bigint,
    job_id int,
    by_ms bigint,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_ms bigint;
BEGIN
    PERFORM weft._check_job(extend_job.batch_id, extend_job.job_id);
    SELECT j.state, j.attempt, j.incarnation_id, s.word
    INTO v_job
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    WHERE j.batch_id = extend_job.batch_id AND j.job_id = extend_job.job_id
    FOR NO KEY UPDATE OF j;
    IF v_job.state >= STATE_SUCCESS THEN
        PERFORM weft._fail(
            'WF219',
            format('job b%s.j%s has ended', extend_job.batch_id, extend_job.job_id),
            format('Its state is %s; there is no time limit to extend.', v_job.word),
            'Nothing was changed.'
        );
    END IF;
    -- A new number, so that no acknowledgement of the old one is taken for its own.
    DELETE FROM weft.job_command c
    WHERE c.batch_id = extend_job.batch_id AND c.job_id = extend_job.job_id AND c.extend_ms IS NOT NULL
    RETURNING c.extend_ms
    INTO v_ms;
    v_ms := coalesce(v_ms, 0) + extend_job.by_ms;
    INSERT INTO weft.job_command (batch_id, job_id, tenant_id, extend_ms, actor, at)
    VALUES (
        extend_job.batch_id, extend_job.job_id, extend_job.tenant_id, v_ms, extend_job.actor, extend_job.at
    );
    INSERT INTO weft.job_change (
        batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype, message
    )
    VALUES (
        extend_job.batch_id, extend_job.job_id, extend_job.tenant_id, extend_job.at, v_job.state, v_job.state,
        CASE WHEN v_job.state = STATE_RUNNING THEN v_job.attempt END,
        extend_job.actor,
        'extended',
        format('its time limit is extended by %s s', trim_scale(extend_job.by_ms / 1000.0))
    );
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
    VALUES (
        extend_job.at, extend_job.tenant_id, extend_job.batch_id, 'jobs.extended', ARRAY[extend_job.job_id]
    );
    PERFORM weft._announce();
    -- Whoever claims it later must ask for it, so all workers are told of one that waits.
    PERFORM pg_notify(
        'command', CASE WHEN v_job.state = STATE_RUNNING THEN v_job.incarnation_id::text ELSE '' END
    );
    RETURN v_ms;
END $$;
