-- _holds_of: what is held of what a job belongs to: paths of groups, `/` for the batch, and an empty text for
--   the job itself.
-- Plan: as _is_held.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._holds_of(of_batch_id bigint, of_group_id int, of_job_id int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(x.path ORDER BY x.depth), '[]')
    FROM (
        SELECT coalesce(g.path, g.name) AS path, g.depth::int
        FROM weft.group_ancestor a
        JOIN weft.group_hold h ON h.batch_id = a.batch_id
            AND h.group_id = a.ancestor_id
            AND h.limit_id = 0
            AND h.released_at IS NULL
        JOIN weft.job_group g ON g.batch_id = a.batch_id AND g.group_id = a.ancestor_id
        WHERE a.batch_id = of_batch_id AND a.group_id = of_group_id
        UNION ALL
        SELECT '', 1000000
        FROM weft.job_hold h
        WHERE h.batch_id = of_batch_id AND h.job_id = of_job_id
    ) x
$$;
