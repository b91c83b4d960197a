-- _waits_for_limits: whether nothing but limits that are near hold a ready job, and these have not admitted
--   it.
-- Plan: ancestors, holds and admissions by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._waits_for_limits(
    of_batch_id bigint, of_group_id int, of_job_id int, always_run boolean, of_limit_ids int[]
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(bool_and(h.admits AND h.limit_id = ANY (of_limit_ids)), false)
        AND weft._is_closed(of_batch_id, of_group_id, of_job_id)
        AND NOT EXISTS (SELECT FROM weft.job_hold x WHERE x.batch_id = of_batch_id AND x.job_id = of_job_id)
        AND NOT EXISTS (SELECT FROM weft.late_job x WHERE x.batch_id = of_batch_id AND x.job_id = of_job_id)
        AND NOT weft._is_cancelled(of_batch_id, of_group_id, always_run)
    FROM weft.group_ancestor a
    JOIN weft.group_hold h ON h.batch_id = a.batch_id AND h.group_id = a.ancestor_id AND h.released_at IS NULL
    WHERE a.batch_id = of_batch_id AND a.group_id = of_group_id
$$;
