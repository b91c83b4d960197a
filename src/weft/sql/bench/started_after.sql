-- started_after: how many attempts of batch $1 began to run after the time $2, in seconds of the epoch.
SELECT count(*)
FROM (
    SELECT a.started_at
    FROM weft.attempt a
    WHERE a.batch_id = $1
    UNION ALL
    SELECT j.started_at
    FROM weft.job j
    WHERE j.batch_id = $1 AND j.state = 4
) x
WHERE x.started_at > to_timestamp($2)
