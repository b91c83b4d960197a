-- No attempt begins on a machine that may be taken back after its job has gone to one that stays.
SELECT a.batch_id, a.job_id, a.attempt, c.at, a.claimed_at
FROM weft.job_change c
JOIN weft.attempt a ON a.batch_id = c.batch_id AND a.job_id = c.job_id AND a.claimed_at > c.at
JOIN weft.worker_incarnation i ON i.incarnation_id = a.incarnation_id
WHERE c.subtype = 'spot' AND i.offers ? 'preemptible'
