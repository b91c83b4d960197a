-- changed_since: jobs that have ended since a time ($1), or were begun since and run (n_jobs NULL), and the
--   updates that were committed
-- since (first: their first job), by batch and job. All of them are read: for an owner who gives up this
--   database for an older one.
SELECT format('b%s.j%s', s.batch_id, s.job_id) AS first, s.n_jobs
FROM (
    SELECT u.batch_id, j.job_id, NULL::int AS n_jobs
    FROM (
        SELECT a.batch_id, a.job_id
        FROM weft.attempt a
        WHERE a.ended_at >= $1
        UNION
        SELECT r.batch_id, r.job_id
        FROM weft.job r
        WHERE r.claimed_at >= $1 AND r.incarnation_id IS NOT NULL
    ) AS ran
    JOIN weft.job j
    USING (batch_id, job_id)
    JOIN weft.batch_update u
    USING (batch_id, update_id)
    WHERE u.committed_at < $1
    UNION ALL
    SELECT u.batch_id, u.first_job, u.n_jobs
    FROM weft.batch_update u
    WHERE u.committed_at >= $1 AND u.n_jobs > 0
) AS s
ORDER BY s.batch_id, s.job_id
