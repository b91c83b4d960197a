-- _is_closed: whether a switch is closed for a job of this group: a hold by a person, or by a limit that does
--   not admit its next attempt. Job 0 stands for the whole group, group 0 for the batch.
-- Plan: as _is_held; at limits that are near also admissions and the job by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_closed(of_batch_id bigint, of_group_id int, of_job_id int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.group_ancestor a
        JOIN weft.group_hold h ON h.batch_id = a.batch_id AND h.group_id = a.ancestor_id
        WHERE a.batch_id = of_batch_id
            AND a.group_id = of_group_id
            AND h.released_at IS NULL
            AND NOT (
                h.admits
                    AND EXISTS (
                        SELECT
                        FROM weft.admission x
                        JOIN weft.job j ON j.batch_id = x.batch_id
                            AND j.job_id = x.job_id
                            AND j.attempt < x.attempt
                        WHERE x.batch_id = of_batch_id
                            AND x.job_id = of_job_id
                            AND x.limit_id = h.limit_id
                            AND x.open
                            AND x.admitted_at >= h.held_at
                    )
            )
    )
        OR EXISTS (SELECT FROM weft.job_hold h WHERE h.batch_id = of_batch_id AND h.job_id = of_job_id)
$$;
