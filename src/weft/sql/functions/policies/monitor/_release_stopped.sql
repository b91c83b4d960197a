-- _release_stopped: make up to limit_jobs jobs ready whose attempts were stopped beyond a limit and are gone.
-- Safe to repeat: yes.
-- Locks: monitor (SKIP LOCKED); job (SKIP LOCKED, in key order); as _release_jobs.
-- Plan: stops by date; jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._release_stopped(limit_jobs int, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
BEGIN
    WITH gone AS (
        DELETE FROM weft.attempt_stop s
        WHERE (s.batch_id, s.job_id, s.attempt) IN (
            SELECT d.batch_id, d.job_id, d.attempt
            FROM (
                SELECT x.*
                FROM weft.attempt_stop x
                WHERE x.due_at <= _release_stopped.at AND x.gone
                ORDER BY x.due_at
                LIMIT limit_jobs
                FOR UPDATE SKIP LOCKED
            ) d
        )
        RETURNING s.*
    )
    SELECT array_agg(l.batch_id), array_agg(l.job_id)
    INTO v_batch, v_job
    FROM (SELECT g.* FROM gone g WHERE NOT g.final ORDER BY g.batch_id, g.job_id) t
    CROSS JOIN LATERAL (
        SELECT j.batch_id, j.job_id, j.state, j.attempt
        FROM weft.job j
        WHERE j.batch_id = t.batch_id AND j.job_id = t.job_id
        FOR UPDATE
        OFFSET 0
    ) l
    WHERE l.state = STATE_BLOCKED AND l.attempt = t.attempt;
    IF v_job IS NOT NULL THEN
        PERFORM weft._release_jobs(v_batch, v_job, _release_stopped.at);
    END IF;
END $$;
