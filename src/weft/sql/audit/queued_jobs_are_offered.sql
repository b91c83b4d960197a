-- Every queued job has one live offer and no attempt that runs; no live offer is of another job.
-- None outlives its job by more than the rounds of the driver, which withdraws them: a minute before it last
--   looked at the transport.
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, j.state, NULL::bigint AS offer_id
FROM weft.job j
WHERE j.state = STATE_QUEUED
    AND NOT EXISTS (
        SELECT
        FROM weft.transport_offer o
        WHERE o.batch_id = j.batch_id AND o.job_id = j.job_id AND o.attempt IS NULL
    )
UNION ALL
SELECT o.batch_id, o.job_id, j.state, o.offer_id
FROM weft.transport_offer o
LEFT JOIN weft.job j ON j.batch_id = o.batch_id AND j.job_id = o.job_id
WHERE j.job_id IS NULL
    OR o.attempt IS NULL AND j.state IN (STATE_READY, STATE_RUNNING)
    OR o.attempt > j.attempt
    OR j.state >= STATE_SUCCESS
        AND coalesce(
            j.cancelled_at,
            (
                SELECT a.ended_at
                FROM weft.attempt a
                WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
            )
        ) < (
            SELECT s.looked_at - interval '1 minute'
            FROM weft.transport_state s
            WHERE s.transport = o.transport
        )
