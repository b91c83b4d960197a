-- _job_span: the lowest and the highest number that jobs of a group may have; others may have numbers between
--   them, too.
-- Plan: the batch by key; of another group than the root the first and the last bunch of at most 1000 groups
--   below it, by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._job_span(of_batch_id bigint, of_group_id int)
RETURNS TABLE (low int, high int) LANGUAGE sql STABLE AS $$
    SELECT 1, b.next_job - 1
    FROM weft.batch b
    WHERE of_group_id = 0 AND b.batch_id = of_batch_id
    UNION ALL
    SELECT min(f.first_job), max(l.last_job)
    FROM (
        SELECT a.group_id
        FROM weft.group_ancestor a
        WHERE a.batch_id = of_batch_id AND a.ancestor_id = of_group_id
        ORDER BY a.group_id
        LIMIT 1000
    ) g
    CROSS JOIN LATERAL (
        SELECT c.first_job
        FROM weft.bunch_count c
        WHERE c.batch_id = of_batch_id AND c.group_id = g.group_id
        ORDER BY c.first_job
        LIMIT 1
    ) f
    CROSS JOIN LATERAL (
        SELECT b.first_job + b.n_jobs - 1 AS last_job
        FROM weft.bunch_count c
        JOIN weft.bunch b ON b.batch_id = c.batch_id
            AND b.update_id = c.update_id
            AND b.first_job = c.first_job
        WHERE c.batch_id = of_batch_id AND c.group_id = g.group_id
        ORDER BY c.first_job DESC
        LIMIT 1
    ) l
    WHERE of_group_id <> 0
$$;
