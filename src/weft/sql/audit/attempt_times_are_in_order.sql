-- Every attempt was claimed, then started, then ended; a state is one of the ten.
-- A batch that is being removed is incomplete.
SELECT a.batch_id, a.job_id, a.attempt, a.claimed_at, a.started_at, a.ended_at
FROM weft.attempt a
WHERE a.claimed_at > a.ended_at OR a.claimed_at > a.started_at OR a.started_at > a.ended_at
UNION ALL
SELECT j.batch_id, j.job_id, j.attempt, NULL, NULL, NULL
FROM weft.job j
WHERE j.state NOT BETWEEN STATE_PENDING AND STATE_CANCELLED
