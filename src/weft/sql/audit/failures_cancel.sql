-- A group with cancel_after_n_failures has counted its failures, and is cancelled once it reaches that
--   number.
-- Those from before a retry last lifted its cancel do not count.
-- A batch that is being removed is incomplete.
SELECT f.batch_id, f.group_id, f.n_failures, f.n_failures_max, c.cancelled_at
FROM weft.failure_count f
LEFT JOIN weft.group_cancel c ON c.batch_id = f.batch_id AND c.group_id = f.group_id
WHERE (f.n_failures >= f.n_failures_max AND c.cancelled_at IS NULL)
    OR f.n_failures <> (
        SELECT count(*)
        FROM weft.group_ancestor a
        JOIN weft.job j ON j.batch_id = a.batch_id AND j.group_id = a.group_id
        WHERE a.batch_id = f.batch_id
            AND a.ancestor_id = f.group_id
            AND j.state IN (STATE_FAILED, STATE_ERROR)
            AND (
                f.lifted_at IS NULL
                    OR EXISTS (
                        SELECT
                        FROM weft.dead_letter d
                        WHERE d.batch_id = j.batch_id AND d.job_id = j.job_id AND d.failed_at > f.lifted_at
                    )
            )
    )
