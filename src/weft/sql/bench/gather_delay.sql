-- gather_delay: milliseconds from the last end of a parent of job $2 of batch $1 to the start of its first attempt.
SELECT extract(epoch FROM g.started_at - max(a.ended_at)) * 1000
FROM weft.attempt g JOIN weft.edge e ON e.batch_id = g.batch_id AND e.child_id = g.job_id
JOIN weft.attempt a ON a.batch_id = e.batch_id AND a.job_id = e.parent_id
WHERE g.batch_id = $1 AND g.job_id = $2 AND g.attempt = 1 GROUP BY g.started_at
