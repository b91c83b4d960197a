-- Every committed job has its spec, and every committed update all the jobs that it reserved.
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, j.update_id
FROM weft.job j
JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
    AND u.update_id = j.update_id
    AND u.committed_at IS NOT NULL
LEFT JOIN weft.job_spec s ON s.batch_id = j.batch_id
    AND s.first_job = j.spec_first
    AND j.job_id < s.first_job + s.n_jobs
WHERE s.batch_id IS NULL
UNION ALL
SELECT u.batch_id, NULL, u.update_id
FROM weft.batch_update u
LEFT JOIN weft.job j ON j.batch_id + 0 = u.batch_id AND j.update_id = u.update_id
WHERE u.committed_at IS NOT NULL
GROUP BY u.batch_id, u.update_id
HAVING count(j.job_id) <> u.n_jobs
