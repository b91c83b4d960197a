-- _fair_shares: how the cpu that a claim has to give is shared among the users who run least: all are raised
--   to one level of running mCPU divided by weight ("water-filling"), those with fewer ready jobs only as far
--   as these reach.
-- Plan: the deltas not yet folded, at most half a second of them, because they change what a user runs; then
--   the first users by load. It runs with the settings of its caller.
-- users_max: a worker that asks for more than it has keeps a stock of short jobs; one user for 50 of them
--   makes that cheaper.
-- left_by: users who take no part in a claim, because they left some of a share.
-- lanes: NULL for claims. Else users count that have work in these, of this tenant (NULL: of all), and the
--   budget is a number of jobs.
-- Returns: users by load, without those whose jobs have all been claimed: they are active until the fold
--   looks at them.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._fair_shares(
    of_pool_id int,
    budget bigint,
    users_max int,
    lanes int[] DEFAULT NULL,
    of_tenant_id int DEFAULT NULL,
    left_by int[] DEFAULT '{}'
) RETURNS weft.shares LANGUAGE sql STABLE AS $$
    WITH recent AS MATERIALIZED (
        SELECT
            b.user_id,
            sum(d.n_ready) AS n_ready,
            sum(d.n_ready * h.cpu_m) AS ready_m,
            sum((d.n_running + d.n_creating + d.n_queued) * h.cpu_m) AS running_m
        FROM weft._unfolded() d
        JOIN weft.batch b ON b.batch_id = d.batch_id
        JOIN weft.shape h ON h.shape_id = d.shape_id
        WHERE d.pool_id = of_pool_id
        GROUP BY 1
    ),
    candidate AS MATERIALIZED (
        SELECT
            x.*,
            x.ready_m::double precision AS demand_m,
            greatest(x.ready_m / x.n_ready, 1) AS job_m,
            CASE WHEN lanes IS NULL THEN x.weight ELSE x.weight / greatest(x.ready_m / x.n_ready, 1) END AS
                rise
        FROM (
            (
                SELECT s.user_id, s.weight, s.load, s.n_ready, s.ready_m
                FROM weft.user_share s
                WHERE s.pool_id = of_pool_id
                    AND s.active
                    AND s.n_ready > 0
                    AND NOT s.user_id = ANY (left_by || ARRAY(SELECT r.user_id FROM recent r))
                    AND lanes IS NULL
                ORDER BY s.load, s.user_id
                LIMIT users_max
            ) UNION ALL  -- apart, because claims walk along an index that has all columns they need
                (
                    SELECT s.user_id, s.weight, s.load, s.n_ready, s.ready_m
                    FROM weft.user_share s
                    WHERE s.pool_id = of_pool_id
                        AND s.active
                        AND s.n_ready > 0
                        AND NOT s.user_id = ANY (ARRAY(SELECT r.user_id FROM recent r))
                        AND lanes IS NOT NULL
                        AND weft._has_work_in(of_pool_id, s.user_id, s.tenant_id, lanes, of_tenant_id)
                    ORDER BY s.load, s.user_id
                    LIMIT users_max
                ) UNION ALL SELECT s.user_id,
            s.weight,
            greatest(0, s.running_m + r.running_m) / s.weight::double precision,
            s.n_ready + r.n_ready,
            s.ready_m + r.ready_m FROM recent r CROSS JOIN LATERAL (
                SELECT y.*
                FROM weft.user_share y
                WHERE y.pool_id = of_pool_id AND y.user_id = r.user_id
                OFFSET 0
            ) s WHERE s.active
                AND s.n_ready + r.n_ready > 0
                AND NOT s.user_id = ANY (left_by)
                AND (
                    lanes IS NULL
                        OR weft._has_work_in(of_pool_id, s.user_id, s.tenant_id, lanes, of_tenant_id)
                )
        ) x
        ORDER BY x.load, x.user_id
        LIMIT users_max
    ),
    -- While the level rises, a user takes part from its own load on until all its jobs run.
    step AS (
        SELECT x.level, sum(x.rise) OVER w AS slope, lead(x.level) OVER w AS next_level
        FROM (
            SELECT c.load AS level, c.rise
            FROM candidate c
            UNION ALL
            SELECT c.load + c.demand_m / c.weight, -c.rise
            FROM candidate c
        ) x
        WINDOW w AS (ORDER BY x.level, x.rise DESC ROWS UNBOUNDED PRECEDING)
    ),
    filled AS (
        SELECT
            s.next_level,
            s.slope,
            sum(s.slope * (s.next_level - s.level)) OVER (ORDER BY s.level ROWS UNBOUNDED PRECEDING) AS upto
        FROM step s
        WHERE s.next_level > s.level
    ),
    water AS (
        SELECT f.next_level - (f.upto - budget) / f.slope AS level
        FROM filled f
        WHERE f.upto >= budget AND f.slope > 0
        ORDER BY f.upto
        LIMIT 1
    ),
    share AS (
        SELECT
            c.load,
            c.user_id,
            c.job_m,
            least(c.demand_m, greatest(0, ceil((coalesce(w.level, 'infinity') - c.load) * c.weight - 0.001)))
                AS share_m
        FROM candidate c
        LEFT JOIN water w ON true
    )
    SELECT
        array_agg(x.user_id),
        array_agg(x.upto_m::bigint),
        array_agg((1 + least(x.share_m / x.job_m, 1000))::int)
    FROM (
        SELECT s.*, sum(s.share_m) OVER (ORDER BY s.load, s.user_id ROWS UNBOUNDED PRECEDING) AS upto_m
        FROM share s
        ORDER BY s.load, s.user_id
    ) x
$$;
