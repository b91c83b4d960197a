-- _stop_for_limit: stop attempts in groups that a limit holds, as if others needed their room: their workers
--   are told to stop them, and the reports of their ends make their jobs ready again, with the reason
--   preempted. What is claimed and not started goes back, too.
-- Safe to repeat: yes, an attempt is stopped once.
-- Returns: how many.
-- It must not bring a job nearer to the end that many losses are (losses_max, or its last try): a loss is
--   taken off before it is
-- added.
-- Locks: job (in key order).
-- Plan: held groups by the index of their limit; as _live_attempts of the workers that have claimed jobs of
--   them; jobs and preemptions by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stop_for_limit(of_limit_id int, limit_rows int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_batches bigint[];
    v_n int;
BEGIN
    WITH held AS MATERIALIZED (
        SELECT h.batch_id, h.group_id
        FROM weft.group_hold h
        WHERE h.limit_id = of_limit_id AND h.limit_id <> 0 AND h.released_at IS NULL
    ),
    claimer AS MATERIALIZED (SELECT DISTINCT c.incarnation_id FROM weft.claim c JOIN held h USING (batch_id)),
    live AS MATERIALIZED (
        SELECT j.batch_id, j.job_id, j.attempt
        FROM claimer c
        CROSS JOIN LATERAL weft._live_attempts(c.incarnation_id) j
        WHERE EXISTS (
            SELECT
            FROM held h
            JOIN weft.group_ancestor a ON a.batch_id = h.batch_id AND a.ancestor_id = h.group_id
            WHERE h.batch_id = j.batch_id AND a.group_id = j.group_id
        )
            AND NOT EXISTS (
                SELECT
                FROM weft.preemption p
                WHERE p.batch_id = j.batch_id AND p.job_id = j.job_id AND p.attempt = j.attempt
            )
        ORDER BY 1, 2
        LIMIT limit_rows
    ),
    locked AS MATERIALIZED (
        SELECT j.*
        FROM live l
        CROSS JOIN LATERAL (
            SELECT
                y.ctid AS tid,
                y.batch_id,
                y.job_id,
                y.attempt,
                y.tenant_id,
                y.n_lost,
                y.n_uncounted,
                (y.retry_on >> REASON_LOST) & 1 = 1 AS counts
            FROM weft.job y  -- it may start before its worker hears of this
            WHERE y.batch_id = l.batch_id
                AND y.job_id = l.job_id
                AND y.attempt = l.attempt
                AND y.state = STATE_RUNNING
            FOR NO KEY UPDATE
        ) j
    ),
    taken_off AS (
        UPDATE weft.job j
        SET n_lost = greatest(k.n_lost - 1, 0), n_uncounted = k.n_uncounted + k.counts::int
        FROM locked k
        WHERE j.ctid = k.tid AND (k.n_lost > 0 OR k.counts)
    ),
    stopped AS (
        INSERT INTO weft.preemption (batch_id, job_id, attempt, tenant_id, at)
        SELECT k.batch_id, k.job_id, k.attempt, k.tenant_id, clock_timestamp()
        FROM locked k
        ON CONFLICT DO NOTHING
        RETURNING batch_id
    )
    SELECT array_agg(DISTINCT s.batch_id), count(*)
    INTO v_batches, v_n
    FROM stopped s;
    PERFORM pg_notify('cancel', b::text) FROM unnest(v_batches) b;
    RETURN v_n;
END $$;
