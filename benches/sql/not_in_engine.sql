-- How many jobs of a batch no engine has taken yet. Owner.
SELECT count(*)
FROM weft.job j
WHERE j.batch_id = $1 AND j.state < STATE_SUCCESS AND coalesce(j.phase, 0) < PHASE_QUEUED_REMOTE
