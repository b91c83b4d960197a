-- _ready_samples: a few ready jobs of a group that stand for the others: the first of each set of gates and
--   each lane.
-- Plan: the first 1000 listed jobs of the batch, and the first 1000 jobs of at most 10 of its ranges, however
--   many there are. So a group whose ready jobs all come later has no sample.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._ready_samples(of_batch_id bigint, of_group_id int, samples_max int DEFAULT 3)
RETURNS SETOF int LANGUAGE sql STABLE AS $$
    WITH listed AS (
        SELECT q.gate_set_id, q.lane_id, q.job_id
        FROM (SELECT x.* FROM weft.ready_job x WHERE x.batch_id = of_batch_id ORDER BY x.job_id LIMIT 1000) q
        CROSS JOIN LATERAL (
            SELECT y.group_id
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = q.job_id AND y.state = STATE_READY
            OFFSET 0
        ) j
        WHERE weft._is_member(of_batch_id, j.group_id, of_group_id)
    ),
    ranged AS (
        SELECT r.gate_set_id, r.lane_id, j.job_id
        FROM (SELECT x.* FROM weft.runnable x WHERE x.batch_id = of_batch_id LIMIT 10) r
        CROSS JOIN LATERAL (
            SELECT y.job_id
            FROM weft.job y
            WHERE y.batch_id = of_batch_id
                AND y.job_id BETWEEN r.low_job AND least(r.last_job::bigint, r.low_job + 1000::bigint)
                AND y.state = STATE_READY
                AND NOT y.listed
                AND y.lane_id = r.lane_id
                AND weft._is_member(of_batch_id, y.group_id, of_group_id)
            ORDER BY y.job_id
            LIMIT 1
        ) j
    )
    SELECT s.job_id
    FROM (
        SELECT DISTINCT ON (x.gate_set_id, x.lane_id) x.job_id
        FROM (SELECT * FROM listed UNION ALL SELECT * FROM ranged) x
        ORDER BY x.gate_set_id, x.lane_id, x.job_id
    ) s
    ORDER BY s.job_id
    LIMIT samples_max
$$;
