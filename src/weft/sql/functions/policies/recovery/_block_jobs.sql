-- _block_jobs: note when those of these jobs that are blocked are ready again, or what they wait for, and
--   tell the driver. Those that are late are noted for it.
-- Safe to repeat: yes.
-- For: _after_ends, in the transaction that blocks them.
-- Locks: job (by the caller); as _join_conditions.
-- Plan: jobs and attempts by key; as _next_wait.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._block_jobs(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_late bigint[];
BEGIN
    INSERT INTO weft.blocked_job (batch_id, job_id, tenant_id, blocked_at, next_at)
    SELECT
        j.batch_id,
        j.job_id,
        j.tenant_id,
        _block_jobs.at,
        coalesce(
            (
                SELECT s.due_at
                FROM weft.attempt_stop s
                WHERE s.batch_id = t.b AND s.job_id = t.j AND s.attempt = j.attempt
            ),
            _block_jobs.at + interval '1 s' * coalesce(
                weft._next_wait(
                    j.batch_id,
                    j.job_id,
                    j.spec_first,
                    j.attempt,
                    a.reason,
                    j.attempt - j.n_uncounted,
                    _block_jobs.at
                ),
                0
            )
        )
    FROM unnest(_block_jobs.batch_ids, _block_jobs.job_ids, _block_jobs.states) t (b, j, s)
    CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0) j
    CROSS JOIN LATERAL (
        SELECT x.reason
        FROM weft.attempt x
        WHERE x.batch_id = t.b AND x.job_id = t.j AND x.attempt = j.attempt
        OFFSET 0
    ) a
    WHERE t.s = STATE_BLOCKED
    ON CONFLICT DO NOTHING;
    WITH late AS (
        INSERT INTO weft.late_job (batch_id, job_id, tenant_id)
        SELECT t.b, t.j, b.tenant_id
        FROM unnest(_block_jobs.batch_ids, _block_jobs.job_ids, _block_jobs.states) t (b, j, s)
        JOIN weft.batch b ON b.batch_id = t.b
        WHERE t.s = STATE_BLOCKED AND weft._is_late(t.b, t.j, _block_jobs.at)
        ON CONFLICT DO NOTHING
        RETURNING batch_id
    )
    SELECT array_agg(l.batch_id)
    INTO v_late
    FROM late l;
    IF v_late IS NOT NULL THEN
        PERFORM pg_notify('driver', 'deadlines');
    END IF;
    PERFORM weft._join_conditions(_block_jobs.batch_ids, _block_jobs.job_ids, _block_jobs.at);
    PERFORM pg_notify('driver', 'recovery');
END $$;
