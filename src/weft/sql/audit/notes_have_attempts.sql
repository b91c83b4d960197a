-- What an engine said is said of an attempt that was claimed, to the tenant of its job.
SELECT n.batch_id, n.job_id, n.attempt, n.phase, j.attempt AS last_attempt
FROM (
    SELECT a.batch_id, a.job_id, a.attempt, a.phase, a.tenant_id
    FROM weft.attempt_note a
    UNION ALL
    SELECT o.batch_id, o.job_id, o.attempt, NULL, o.tenant_id
    FROM weft.job_note o
) n
LEFT JOIN weft.job j ON j.batch_id = n.batch_id AND j.job_id = n.job_id
WHERE (n.attempt <= j.attempt AND n.tenant_id = j.tenant_id) IS NOT TRUE
