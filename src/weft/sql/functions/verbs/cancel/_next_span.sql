-- _next_span: the next numbers above `after` that include jobs of a group, perhaps among others. No row:
--   there are no more.
-- Plan: groups below and memberships by ancestor, their bunches and spans by key; of the root all numbers are
--   one span.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._next_span(of_batch_id bigint, of_group_id int, after int)
RETURNS TABLE (first_job int, last_job int) LANGUAGE sql STABLE AS $$
    SELECT s.first_job, s.last_job
    FROM (
        SELECT greatest(c.first_job, after + 1) AS first_job, b.first_job + b.n_jobs - 1 AS last_job
        FROM weft.group_ancestor g
        JOIN weft.bunch_count c ON c.batch_id = g.batch_id AND c.group_id = g.group_id
        JOIN weft.bunch b ON b.batch_id = c.batch_id
            AND b.update_id = c.update_id
            AND b.first_job = c.first_job
        WHERE of_group_id <> 0
            AND g.batch_id = of_batch_id
            AND g.ancestor_id = of_group_id
            AND b.first_job + b.n_jobs - 1 > after
        UNION ALL
        SELECT greatest(m.first_job, after + 1), m.last_job
        FROM weft.group_ancestor g
        JOIN weft.member_span m ON m.batch_id = g.batch_id AND m.group_id = g.group_id
        WHERE of_group_id <> 0
            AND g.batch_id = of_batch_id
            AND g.ancestor_id = of_group_id
            AND m.last_job > after
        UNION ALL
        SELECT after + 1, b.next_job - 1
        FROM weft.batch b
        WHERE of_group_id = 0 AND b.batch_id = of_batch_id AND b.next_job - 1 > after
    ) s
    ORDER BY s.first_job, s.last_job DESC
    LIMIT 1
$$;
