-- preempt_jobs: stop running jobs, so that another one can start. Their workers are told to stop them; the
--   reports of their ends make them ready again, with the reason preempted. They wait until a date, so that
--   they do not take the room back before the other has started.
-- Safe to repeat: yes, an attempt is preempted once, and a waiting job causes it once.
-- Locks: as _check_epoch; batch_row (in order); job (in key order); as _preempted_gate.
-- Plan: jobs by key.
-- A job that a worker has claimed and not started waits, too; for it others are stopped on that worker only.
-- Returns: how many; 0 also if the job that waits has started meanwhile, or has caused another preemption
--   since it last ran.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.preempt_jobs(
    epoch bigint,
    waiting_batch_id bigint,
    waiting_job_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    wait_s double precision
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_at timestamptz := clock_timestamp();
    v_waiting weft.job;
    v_job weft.job;
    v_n int := 0;
    v_one record;
BEGIN
    SELECT j.*
    INTO v_waiting
    FROM weft.job j
    WHERE j.batch_id = waiting_batch_id
        AND j.job_id = waiting_job_id
        AND (j.state = STATE_READY OR j.state = STATE_RUNNING AND j.started_at IS NULL)
        AND NOT weft._has_preempted(j.batch_id, j.job_id);
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    PERFORM
    FROM weft.batch b
    WHERE b.batch_id = ANY (preempt_jobs.batch_ids)
    ORDER BY b.batch_id
    FOR NO KEY UPDATE;
    UPDATE weft.batch b SET gated = true WHERE b.batch_id = ANY (preempt_jobs.batch_ids) AND NOT b.gated;
    FOR v_one IN
        SELECT t.b, t.j, t.a
        FROM unnest(preempt_jobs.batch_ids, preempt_jobs.job_ids, preempt_jobs.attempts) t (b, j, a)
        ORDER BY 1, 2
    LOOP
        SELECT j.*
        INTO v_job
        FROM weft.job j
        WHERE j.batch_id = v_one.b AND j.job_id = v_one.j AND j.attempt = v_one.a AND j.state = STATE_RUNNING
        FOR NO KEY UPDATE;
        CONTINUE WHEN NOT FOUND
            OR NOT weft._is_preemptible(v_job)
            OR (v_job.batch_id, v_job.job_id) = (v_waiting.batch_id, v_waiting.job_id)
            OR v_waiting.state = STATE_RUNNING AND v_job.incarnation_id <> v_waiting.incarnation_id;
        INSERT INTO weft.preemption (
            batch_id, job_id, attempt, tenant_id, at, for_batch_id, for_job_id, for_attempt
        )
        VALUES (
            v_job.batch_id,
            v_job.job_id,
            v_job.attempt,
            v_job.tenant_id,
            v_at,
            waiting_batch_id,
            waiting_job_id,
            weft._last_run(waiting_batch_id, waiting_job_id)
        )
        ON CONFLICT DO NOTHING;
        CONTINUE WHEN NOT FOUND;
        PERFORM weft._preempted_gate(
            v_job,
            format('b%s.j%s', waiting_batch_id, waiting_job_id),
            v_at + preempt_jobs.wait_s * interval '1 second'
        );
        v_n := v_n + 1;
    END LOOP;
    PERFORM pg_notify('cancel', x::text)
    FROM (SELECT DISTINCT u FROM unnest(preempt_jobs.batch_ids) u) d (x)
    WHERE v_n > 0;
    RETURN v_n;
END $$;
