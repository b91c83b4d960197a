-- _is_held: whether somebody holds a job of this group, alone or with a group above it. Job 0 stands for the
--   group.
-- Locks: none.
-- Plan: ancestors by key, holds by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_held(of_batch_id bigint, of_group_id int, of_job_id int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.group_ancestor a
        JOIN weft.group_hold h ON h.batch_id = a.batch_id AND h.group_id = a.ancestor_id
        WHERE a.batch_id = of_batch_id
            AND a.group_id = of_group_id
            AND h.limit_id = 0
            AND h.released_at IS NULL
    )
        OR EXISTS (SELECT FROM weft.job_hold h WHERE h.batch_id = of_batch_id AND h.job_id = of_job_id)
$$;
