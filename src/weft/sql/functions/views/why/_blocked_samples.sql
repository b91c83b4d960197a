-- _blocked_samples: a few blocked jobs of a group that stand for the others: the first of each incident, and
--   of those that wait for a date.
-- Plan: the first 1000 blocked jobs of the batch, by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._blocked_samples(
    of_batch_id bigint, of_group_id int, samples_max int DEFAULT 3
) RETURNS SETOF int LANGUAGE sql STABLE AS $$
    SELECT s.job_id
    FROM (
        SELECT min(k.job_id) AS job_id
        FROM (SELECT x.* FROM weft.blocked_job x WHERE x.batch_id = of_batch_id ORDER BY x.job_id LIMIT 1000)
            k
        CROSS JOIN LATERAL (
            SELECT y.group_id FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = k.job_id OFFSET 0
        ) j
        WHERE weft._is_member(of_batch_id, j.group_id, of_group_id)
        GROUP BY k.condition_id
    ) s
    ORDER BY s.job_id
    LIMIT samples_max
$$;
