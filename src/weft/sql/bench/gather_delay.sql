-- gather_delay: milliseconds from the last end of a parent of job $2 of batch $1 to the start of its first
--   attempt.
-- Each parent's attempts by key: on tables that were never analysed a join may read all attempts for each
--   edge.
SELECT extract(
    epoch FROM g.started_at - (
        SELECT max(a.ended_at)
        FROM weft.edge e
        CROSS JOIN LATERAL (
            SELECT x.ended_at
            FROM weft.attempt x
            WHERE x.batch_id = e.batch_id AND x.job_id = e.parent_id
            OFFSET 0
        ) a
        WHERE e.batch_id = g.batch_id AND e.child_id = g.job_id
    )
) * 1000
FROM weft.attempt g
WHERE g.batch_id = $1 AND g.job_id = $2 AND g.attempt = 1
