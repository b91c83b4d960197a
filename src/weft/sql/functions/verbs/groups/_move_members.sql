-- _move_members: move jobs to other groups, with their counts and usage.
-- Returns: how many of them had failed.
-- Safe to repeat: no.
-- Locks: job (by the caller).
-- Plan: jobs by ctid, attempts by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._move_members(
    tenant_id int,
    of_batch_id bigint,
    of_pool_id int,
    job_tids tid[],
    new_groups int[],
    old_groups int[],
    at timestamptz
) RETURNS bigint LANGUAGE sql AS $$
    WITH upd AS (
        UPDATE weft.job j
        SET group_id = t.new
        FROM unnest(job_tids, new_groups, old_groups) t (tid, new, old)
        WHERE j.ctid = t.tid  -- locked above, so the rows are where they were
        RETURNING
            j.job_id,
            t.old,
            j.group_id AS new,
            j.shape_id, j.state, j.rate_card_id, j.billed_ms, j.attempt, j.cancelled_at
    ),
    moved AS (
        SELECT
            u.*,
            p.g,
            p.sign,
            CASE
                WHEN p.sign = 1 AND u.state >= STATE_SUCCESS
                    THEN greatest(
                        u.cancelled_at,
                        (
                            SELECT a.ended_at
                            FROM weft.attempt a
                            WHERE a.batch_id = of_batch_id AND a.job_id = u.job_id AND a.attempt = u.attempt
                        )
                    )
            END AS ended_at
        FROM upd u
        CROSS JOIN LATERAL (VALUES (u.old, -1), (u.new, 1)) p (g, sign)
    ),
    counted AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_queued, n_creating,
            n_running, n_blocked, n_succeeded, n_failed, n_errored, n_cancelled, last_ended_at
        )
        SELECT
            _move_members.tenant_id, of_batch_id, m.g, m.shape_id, of_pool_id,
            sum(m.sign * (m.state = STATE_PENDING)::int),
            sum(m.sign * (m.state = STATE_READY)::int),
            sum(m.sign * (m.state = STATE_QUEUED)::int),
            sum(m.sign * (m.state = STATE_CREATING)::int),
            sum(m.sign * (m.state = STATE_RUNNING)::int),
            sum(m.sign * (m.state = STATE_BLOCKED)::int),
            sum(m.sign * (m.state = STATE_SUCCESS)::int),
            sum(m.sign * (m.state = STATE_FAILED)::int),
            sum(m.sign * (m.state = STATE_ERROR)::int),
            sum(m.sign * (m.state = STATE_CANCELLED)::int),
            max(m.ended_at)
        FROM moved m
        GROUP BY m.g, m.shape_id
    ),
    usage AS (
        SELECT u.old, u.new, u.shape_id, a.rate_card_id, weft._ms_between(a.started_at, a.ended_at) AS ms
        FROM upd u
        CROSS JOIN LATERAL (
            SELECT y.*
            FROM weft.attempt y
            WHERE y.batch_id = of_batch_id AND y.job_id = u.job_id AND y.started_at IS NOT NULL
            OFFSET 0
        ) a
        UNION ALL
        SELECT u.old, u.new, u.shape_id, u.rate_card_id, u.billed_ms
        FROM upd u
        WHERE u.state = STATE_RUNNING AND u.billed_ms > 0
    ),
    billed AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, rate_card_id, usage_on, usage_ms
        )
        SELECT
            _move_members.tenant_id,
            of_batch_id,
            p.g,
            u.shape_id,
            of_pool_id,
            u.rate_card_id,
            (_move_members.at AT TIME ZONE 'UTC')::date,
            sum(p.sign * u.ms)
        FROM usage u
        CROSS JOIN LATERAL (VALUES (u.old, -1), (u.new, 1)) p (g, sign)
        GROUP BY p.g, u.shape_id, u.rate_card_id
    )
    SELECT count(*) FILTER (WHERE u.state IN (STATE_FAILED, STATE_ERROR))
    FROM upd u;
$$;
