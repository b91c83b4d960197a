-- _waiting_for: the batches whose jobs wait for a transport, ready to be offered or offered to it, and how
--   many of each, up to 1,000; of a tenant at most 1,000 batches. Jobs that are held or wait at a gate do not
--   wait for it.
-- Plan: lanes of the transport and users with work, which are few; from one batch of a user to the next by
--   the keys of ready_job and runnable, at most 10,000 each; of each batch up to 1,000 jobs; the offers.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._waiting_for(of_transport text)
RETURNS TABLE (tenant_id int, batch_id bigint, n int) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE whose AS MATERIALIZED (
        SELECT l.lane_id, l.pool_id, s.user_id
        FROM weft.lane l
        JOIN weft.user_share s ON s.pool_id = l.pool_id AND s.active
        WHERE l.asks ->> 'transport' = of_transport
        LIMIT 10000
    ),
    listed AS (
        SELECT w.*, q.*
        FROM whose w
        CROSS JOIN LATERAL (
            SELECT x.tenant_id, x.rank, x.batch_id
            FROM weft.ready_job x
            WHERE x.gate_set_id = 0
                AND x.pool_id = w.pool_id
                AND x.user_id = w.user_id
                AND x.lane_id = w.lane_id
            ORDER BY x.rank, x.batch_id
            LIMIT 1
        ) q
        UNION ALL
        SELECT p.lane_id, p.pool_id, p.user_id, q.*
        FROM listed p
        CROSS JOIN LATERAL (
            SELECT x.tenant_id, x.rank, x.batch_id
            FROM weft.ready_job x
            WHERE x.gate_set_id = 0
                AND x.pool_id = p.pool_id
                AND x.user_id = p.user_id
                AND x.lane_id = p.lane_id
                AND (x.rank, x.batch_id) > (p.rank, p.batch_id)
            ORDER BY x.rank, x.batch_id
            LIMIT 1
        ) q
    ),
    lists AS (SELECT * FROM listed LIMIT 10000),
    ranges AS (
        SELECT w.*, r.*
        FROM whose w
        CROSS JOIN LATERAL (
            SELECT x.tenant_id, x.batch_id, x.low_job, x.last_job
            FROM weft.runnable x
            WHERE x.gate_set_id = 0
                AND x.pool_id = w.pool_id
                AND x.user_id = w.user_id
                AND x.lane_id = w.lane_id
        ) r
        LIMIT 10000
    ),
    found AS (
        SELECT x.*, dense_rank() OVER (PARTITION BY x.tenant_id ORDER BY x.batch_id) AS nth
        FROM (
            SELECT
                p.tenant_id, p.batch_id, p.pool_id, p.user_id, p.lane_id, p.rank,
                NULL::int AS low_job,
                NULL::int AS last_job,
                0 AS n
            FROM lists p
            UNION ALL
            SELECT r.tenant_id, r.batch_id, r.pool_id, r.user_id, r.lane_id, NULL, r.low_job, r.last_job, 0
            FROM ranges r
            UNION ALL
            SELECT o.tenant_id, o.batch_id, 0, 0, 0, NULL, NULL, NULL, count(*)
            FROM weft.transport_offer o
            WHERE o.transport = of_transport AND o.attempt IS NULL
            GROUP BY 1, 2
        ) x
    )
    SELECT
        f.tenant_id,
        f.batch_id,
        least(
            sum(
                f.n + CASE
                    WHEN f.rank IS NOT NULL
                        THEN (
                            SELECT count(*)
                            FROM (
                                SELECT
                                FROM weft.ready_job x
                                WHERE x.gate_set_id = 0
                                    AND x.pool_id = f.pool_id
                                    AND x.user_id = f.user_id
                                    AND x.lane_id = f.lane_id
                                    AND x.rank = f.rank
                                    AND x.batch_id = f.batch_id
                                LIMIT 1000
                            ) c
                        )
                    WHEN f.low_job IS NOT NULL
                        THEN (
                            SELECT count(*)
                            FROM (
                                SELECT
                                FROM weft.job j
                                WHERE j.batch_id = f.batch_id
                                    AND j.job_id BETWEEN f.low_job AND f.last_job
                                    AND j.state = STATE_READY
                                    AND NOT j.listed
                                LIMIT 1000
                            ) c
                        )
                    ELSE 0
                END
            ),
            1000
        )::int
    FROM found f
    WHERE f.nth <= 1000
    GROUP BY 1, 2
$$;
