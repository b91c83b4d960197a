-- _let_start: admit these waiting jobs of a batch at the limits that hold them, and offer them, or put them
--   before their gates.
-- Safe to repeat: yes.
-- For: admit_at_limits, which moves ranges and announces.
-- Locks: batch (shared, tried); job (SKIP LOCKED); as _park_jobs; admission (nobody else); as _unpark (of
--   jobs whose rows are locked).
-- Plan: everything by key.
-- job_ids, limit_ids, attempts, per_hours: side by side, a row for each limit of a job.
-- Jobs whose rows are locked are left, and so are those of a batch that is.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._let_start(
    of_batch_id bigint,
    job_ids int[],
    limit_ids int[],
    attempts smallint[],
    per_hours numeric[],
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_job int[];
    v_sets int[];
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(of_batch_id) THEN
        RETURN;
    END IF;
    v_job := ARRAY(
        SELECT l.job_id
        FROM (SELECT DISTINCT x.j, x.a FROM unnest(_let_start.job_ids, attempts) x (j, a)) t
        CROSS JOIN LATERAL (
            SELECT y.job_id
            FROM weft.job y
            WHERE y.batch_id = of_batch_id
                AND y.job_id = t.j
                AND y.state = STATE_READY
                AND y.attempt = t.a - 1
            FOR NO KEY UPDATE SKIP LOCKED
        ) l
    );
    -- Jobs of ranges are listed alone from now on.
    PERFORM weft._park_jobs(of_batch_id, v_job);
    INSERT INTO weft.admission AS a (
        batch_id, job_id, limit_id, attempt, tenant_id, used_per_hour, admitted_at
    )
    SELECT of_batch_id, t.j, t.l, t.a, b.tenant_id, t.p, _let_start.at
    FROM unnest(_let_start.job_ids, _let_start.limit_ids, attempts, per_hours) t (j, l, a, p)
    JOIN weft.batch b ON b.batch_id = of_batch_id
    WHERE t.j = ANY (v_job)
    ON CONFLICT (batch_id, job_id, limit_id, attempt) DO UPDATE
    SET open = true, admitted_at = excluded.admitted_at, used_per_hour = excluded.used_per_hour;
    v_sets := weft._unpark(of_batch_id, v_job);
    IF v_sets IS NOT NULL THEN
        PERFORM weft._ring_gates(weft._set_gates(v_sets));
    END IF;
END $$;
