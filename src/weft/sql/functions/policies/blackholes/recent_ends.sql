-- recent_ends: how the newest attempts ended on workers: the successes, and the failures at once and later.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: the newest events by key; attempts by key, one of a success, because the jobs of an event ended on
--   one worker, and of a failure at most 100.
-- Ends before a worker was last uncordoned are left out, and those that say nothing about it: cancelled,
--   preempted and lost attempts.
-- Returns: one row per event, newest first. `is_active`: the worker may be cordoned; a gateway may not, as it
--   avoids single nodes.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.recent_ends(
    epoch bigint, window_s double precision, fast_s double precision, limit_events int
) RETURNS TABLE (
    worker_id int,
    pool_id int,
    batch_id bigint,
    at timestamptz,
    successes bigint,
    fast_failures bigint,
    slow_failures bigint,
    is_active boolean
) LANGUAGE plpgsql PLAN_BY_KEY AS $$
BEGIN
    RETURN QUERY
    WITH newest AS MATERIALIZED (
        SELECT e.xid, e.event_id, e.at, e.batch_id, e.from_state, e.to_state, e.jobs
        FROM weft.event e
        ORDER BY e.xid DESC, e.event_id DESC
        LIMIT limit_events
    ),
    ended AS MATERIALIZED (
        SELECT
            n.xid,
            n.event_id,
            n.at,
            n.batch_id,
            t.incarnation_id,
            n.to_state = STATE_SUCCESS AS succeeded,
            count(*) FILTER (WHERE t.took_s <= recent_ends.fast_s) AS fast_failures,
            count(*) FILTER (WHERE t.took_s > recent_ends.fast_s) AS slow_failures
        FROM newest n
        CROSS JOIN LATERAL unnest(n.jobs[1:CASE WHEN n.to_state = STATE_SUCCESS THEN 1 ELSE 100 END]) j (
            job_id
        )
        CROSS JOIN LATERAL (
            SELECT
                a.incarnation_id,
                a.reason,
                date_part('epoch', a.ended_at - coalesce(a.started_at, a.ended_at)) AS took_s
            FROM weft.attempt a
            WHERE a.batch_id = n.batch_id AND a.job_id = j.job_id AND a.ended_at <= n.at
            ORDER BY a.attempt DESC
            LIMIT 1
        ) t
        WHERE n.from_state = STATE_RUNNING
            AND n.to_state IN (STATE_READY, STATE_SUCCESS, STATE_FAILED, STATE_ERROR)
            AND n.at > clock_timestamp() - recent_ends.window_s * interval '1 second'
            AND (n.to_state = STATE_SUCCESS) = (t.reason IS NULL)
            AND coalesce(t.reason, 0) NOT IN (
                REASON_CANCELLED, REASON_PREEMPTED, REASON_LOST, REASON_DEADLINE
            )
        GROUP BY n.xid, n.event_id, n.at, n.batch_id, t.incarnation_id, n.to_state
    )
    SELECT
        w.worker_id,
        i.pool_id,
        d.batch_id,
        d.at,
        d.succeeded::int::bigint,
        CASE WHEN d.succeeded THEN 0 ELSE d.fast_failures END,
        CASE WHEN d.succeeded THEN 0 ELSE d.slow_failures END,
        w.cordoned_at IS NULL AND i.ended_at IS NULL AND NOT i.outlives
    FROM ended d
    CROSS JOIN LATERAL (
        SELECT x.* FROM weft.worker_incarnation x WHERE x.incarnation_id = d.incarnation_id OFFSET 0
    ) i
    CROSS JOIN LATERAL (SELECT x.* FROM weft.worker x WHERE x.worker_id = i.worker_id OFFSET 0) w
    WHERE d.at > coalesce(
        (SELECT max(c.at) FROM weft.worker_change c WHERE c.worker_id = w.worker_id AND c.state = 'active'),
        '-infinity'
    )
    ORDER BY d.xid DESC, d.event_id DESC;
END $$;
