-- weigh_users: halve the weight in fair share of what belongs to projects, users and groups beyond their soft
--   limit. Claims know the weight of a user in a pool alone: it sinks by half of the part that such jobs are
--   of the mCPU which the user has there or waits for.
-- Safe to repeat: yes.
-- Returns: how many weights changed.
-- For: DriverStore.sweep, until it returns 0.
-- Locks: as _check_epoch; share.
-- Plan: all users of pools; as _groups_of_limit of slowed limits, and what these count by key.
-- The part of a group in its batch is that of its jobs which have not ended.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.weigh_users(epoch bigint, limit_jobs int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
BEGIN
    WITH slowed AS MATERIALIZED (
        SELECT
            b.user_id,
            b.batch_id,
            max(CASE WHEN o.group_id = 0 THEN 1 ELSE coalesce(least(g.n::float8 / nullif(w.n, 0), 1), 0) END)
                AS share
        FROM weft.spend_limit l
        CROSS JOIN LATERAL weft._groups_of_limit(l) o
        JOIN weft.batch b ON b.batch_id = o.batch_id
        LEFT JOIN LATERAL (
            SELECT sum(c.n_ready + c.n_running) AS n
            FROM weft.group_count c
            WHERE c.batch_id = o.batch_id AND c.group_id = o.group_id
        ) g ON o.group_id > 0
        LEFT JOIN LATERAL (
            SELECT sum(c.n_ready + c.n_running) AS n
            FROM weft.group_count c
            WHERE c.batch_id = o.batch_id AND c.group_id = 0
        ) w ON o.group_id > 0
        WHERE l.stage = 'slowed'
        GROUP BY 1, 2
    ),
    part AS MATERIALIZED (
        SELECT c.pool_id, c.user_id, sum(w.share * (c.running_m + c.ready_m)) AS slowed_m
        FROM slowed w
        JOIN weft.user_batch_count c ON c.user_id = w.user_id AND c.batch_id = w.batch_id
        GROUP BY 1, 2
    ),
    -- A user with nothing that is slowed keeps the whole weight: `greatest` and `least` would pass over the
    -- NULL.
    weighed AS MATERIALIZED (
        SELECT
            s.pool_id,
            s.user_id,
            u.weight * (
                1 - 0.5 * CASE
                    WHEN p.slowed_m > 0
                        THEN round(
                            (p.slowed_m / greatest(s.running_m + s.ready_m, p.slowed_m))::numeric, 2
                        )::float8
                    ELSE 0
                END
            ) AS weight
        FROM weft.user_share s
        JOIN weft.tenant_user u
        USING (user_id)
        LEFT JOIN part p ON p.pool_id = s.pool_id AND p.user_id = s.user_id
    ),
    locked AS MATERIALIZED (
        SELECT s.ctid AS tid, w.weight
        FROM weft.user_share s
        JOIN weighed w ON w.pool_id = s.pool_id AND w.user_id = s.user_id
        WHERE s.weight <> w.weight
        ORDER BY s.pool_id, s.user_id
        LIMIT limit_jobs
        FOR NO KEY UPDATE OF s
    )
    UPDATE weft.user_share s
    SET weight = k.weight, load = s.running_m / k.weight
    FROM locked k
    WHERE s.ctid = k.tid;
    GET DIAGNOSTICS v_n = ROW_COUNT;
    RETURN v_n;
END $$;
