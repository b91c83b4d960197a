-- Every ready job can be found by a claimer: it stands in ready_job or in a range at or above its low mark, and its user is active.
SELECT j.batch_id, j.job_id, j.listed, s.active
FROM weft.job j
JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id AND u.committed_at IS NOT NULL
JOIN weft.batch b ON b.batch_id = j.batch_id
JOIN weft.queue q ON q.queue_id = b.queue_id
LEFT JOIN weft.user_share s ON s.pool_id = q.pool_id AND s.user_id = b.user_id
WHERE j.state = 1 AND (s.active IS NOT TRUE OR NOT CASE
    WHEN j.listed THEN EXISTS (SELECT FROM weft.ready_job r WHERE r.pool_id = q.pool_id AND r.user_id = b.user_id AND r.rank = -j.priority
                                 AND r.batch_id = j.batch_id AND r.job_id = j.job_id)
    ELSE EXISTS (SELECT FROM weft.runnable r WHERE r.batch_id = j.batch_id AND j.job_id BETWEEN r.low_job AND r.last_job) END)
UNION ALL
SELECT r.batch_id, r.job_id, NULL, NULL FROM weft.ready_job r LEFT JOIN weft.job j ON j.batch_id = r.batch_id AND j.job_id = r.job_id
WHERE j.state IS DISTINCT FROM 1
