-- fold_failures: one bounded step: add what was counted of causes to their sums. A reader adds what is not
--   folded yet, so this is no hurry.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; fold; sums.
-- Plan: the first deltas of the table; sums by key.
-- limit_jobs: how many deltas at most.
-- Returns: how many deltas it added.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.fold_failures(epoch bigint, limit_jobs int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
    v_batch bigint[];
    v_cause bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM weft.failure_delta d
        WHERE d.ctid = ANY (ARRAY(SELECT x.ctid FROM weft.failure_delta x LIMIT limit_jobs))
        RETURNING d.*
    ),
    summed AS MATERIALIZED (
        SELECT
            g.batch_id,
            g.cause_id,
            g.tenant_id,
            max(g.reason) AS reason,
            max(g.exit_code) AS exit_code,
            max(g.signal) AS signal,
            max(g.message) AS message,
            sum(g.n_jobs) AS n_jobs,
            sum(g.n_acknowledged) AS n_acknowledged,
            max(g.failed_at) AS failed_at,
            count(*) AS n
        FROM gone g
        GROUP BY 1, 2, 3
    ),
    sums AS (
        INSERT INTO weft.failure_cause AS c (
            batch_id, cause_id, tenant_id, reason, exit_code, signal, message, n_jobs, n_acknowledged,
            failed_at
        )
        SELECT
            s.batch_id, s.cause_id, s.tenant_id, s.reason, s.exit_code, s.signal, s.message, s.n_jobs,
            s.n_acknowledged, s.failed_at
        FROM summed s
        ON CONFLICT (batch_id, cause_id) DO UPDATE
        SET
            n_jobs = c.n_jobs + excluded.n_jobs,
            n_acknowledged = c.n_acknowledged + excluded.n_acknowledged,
            failed_at = greatest(c.failed_at, excluded.failed_at),
            reason = coalesce(c.reason, excluded.reason),
            exit_code = coalesce(c.exit_code, excluded.exit_code),
            signal = coalesce(c.signal, excluded.signal),
            message = coalesce(c.message, excluded.message)
    )
    SELECT sum(s.n), array_agg(s.batch_id), array_agg(s.cause_id)
    INTO v_n, v_batch, v_cause
    FROM summed s;
    DELETE FROM weft.failure_cause c
    USING unnest(v_batch, v_cause) t (b, c)
    WHERE c.batch_id = t.b AND c.cause_id = t.c AND c.n_jobs = 0;
    RETURN coalesce(v_n, 0);
END $$;
