-- _attempts: all attempts of one job with their costs, including a live one. One that was given back before
--   it started is no failure: its state is the job's, ready, and it has no reason.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._attempts(of_batch_id bigint, of_job_id int) RETURNS TABLE (
    attempt smallint,
    worker text,
    state text,
    to_state smallint,
    phase smallint,
    reason smallint,
    exit_code int,
    signal smallint,
    claimed_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    cpu_ms bigint,
    memory_peak_bytes bigint,
    stdout_bytes bigint,
    stderr_bytes bigint,
    truncated boolean,
    message text,
    cost numeric,
    cost_by_resource jsonb
) LANGUAGE sql STABLE AS $$
    WITH a AS MATERIALIZED (
        SELECT
            x.attempt,
            x.incarnation_id,
            x.state AS to_state,
            NULL::smallint AS phase,
            x.reason, x.exit_code, x.signal, x.claimed_at, x.started_at, x.ended_at, x.cpu_ms,
            x.memory_peak_bytes, x.stdout_bytes, x.stderr_bytes, x.truncated, x.message, x.shape_id,
            x.rate_card_id
        FROM weft.attempt x
        WHERE x.batch_id = of_batch_id AND x.job_id = of_job_id
        UNION ALL
        SELECT
            j.attempt, j.incarnation_id, STATE_RUNNING::smallint, j.phase, NULL, NULL, NULL, j.claimed_at,
            j.started_at, NULL, 0, 0, 0, 0, false,
            weft._note_of(j.batch_id, j.job_id, j.attempt, j.phase),
            j.shape_id,
            j.rate_card_id
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id AND j.state = STATE_RUNNING
    ),
    used AS (
        SELECT
            array_agg(a.attempt::bigint) AS owners,
            array_agg(a.rate_card_id) AS cards,
            array_agg(a.shape_id) AS shapes,
            array_agg(
                coalesce(weft._ms_between(a.started_at, coalesce(a.ended_at, clock_timestamp())), 0)::numeric
            ) AS mss
        FROM a
    ),
    costs AS (
        SELECT c.* FROM used u CROSS JOIN LATERAL weft._costs_of_usage(u.owners, u.cards, u.shapes, u.mss) c
    )
    SELECT
        a.attempt,
        w.name,
        CASE
            WHEN r.is_returned OR a.to_state <> STATE_READY THEN s.word
            WHEN a.reason IN (REASON_PREEMPTED, REASON_LOST) THEN 'error'
            ELSE 'failed'
        END,
        a.to_state,
        a.phase,
        CASE WHEN NOT r.is_returned THEN a.reason END,
        a.exit_code, a.signal, a.claimed_at, a.started_at, a.ended_at, a.cpu_ms, a.memory_peak_bytes,
        a.stdout_bytes, a.stderr_bytes, a.truncated,
        CASE
            WHEN r.is_returned THEN coalesce(nullif(a.message, ''), 'given back before it started')
            ELSE a.message
        END,
        coalesce(c.cost, 0),
        coalesce(c.cost_by_resource, '[]')
    FROM a
    CROSS JOIN LATERAL (
        SELECT (a.to_state = STATE_READY AND a.reason = REASON_PREEMPTED AND a.started_at IS NULL)
            IS TRUE AS is_returned
    ) r
    JOIN weft.job_state s ON s.state = a.to_state
    JOIN weft.worker_incarnation i ON i.incarnation_id = a.incarnation_id
    JOIN weft.worker w ON w.worker_id = i.worker_id
    LEFT JOIN costs c ON c.owner = a.attempt
    ORDER BY a.attempt
$$;
