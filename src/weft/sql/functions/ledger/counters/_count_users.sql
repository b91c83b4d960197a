-- _count_users: add what a fold found of ready and running jobs to the counts of users in pools, by batch.
-- Safe to repeat: no.
-- Locks: sums.
-- Plan: batches, shapes and counts by key.
-- sums: of the deltas of the fold, without their groups.
-- Returns: what was added, by pool and user, for _add_to_shares.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_users(sums weft.job_delta[])
RETURNS TABLE (pool_id int, user_id int, n_ready bigint, ready_m bigint, running_m bigint) LANGUAGE sql AS $$
    WITH part AS MATERIALIZED (
        SELECT
            d.pool_id,
            b.user_id,
            d.batch_id,
            d.tenant_id,
            sum(d.n_ready) AS n_ready,
            sum(d.n_running) AS n_running,
            sum(d.n_ready::bigint * s.cpu_m)::bigint AS ready_m,
            sum((d.n_running + d.n_creating + d.n_queued)::bigint * s.cpu_m)::bigint AS running_m
        FROM unnest(sums) d
        CROSS JOIN LATERAL (SELECT x.user_id FROM weft.batch x WHERE x.batch_id = d.batch_id OFFSET 0) b
        CROSS JOIN LATERAL (SELECT x.cpu_m FROM weft.shape x WHERE x.shape_id = d.shape_id OFFSET 0) s
        GROUP BY 1, 2, 3, 4
    ),
    counts AS (
        INSERT INTO weft.user_batch_count AS c (
            pool_id, user_id, batch_id, tenant_id, n_ready, n_running, ready_m, running_m
        )
        SELECT p.pool_id, p.user_id, p.batch_id, p.tenant_id, p.n_ready, p.n_running, p.ready_m, p.running_m
        FROM part p
        ON CONFLICT (pool_id, user_id, batch_id) DO UPDATE
        SET
            n_ready = c.n_ready + excluded.n_ready,
            n_running = c.n_running + excluded.n_running,
            ready_m = c.ready_m + excluded.ready_m,
            running_m = c.running_m + excluded.running_m
    )
    SELECT p.pool_id, p.user_id, sum(p.n_ready)::bigint, sum(p.ready_m)::bigint, sum(p.running_m)::bigint
    FROM part p
    GROUP BY 1, 2
$$;
