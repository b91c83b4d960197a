-- A worker that is kept for a job can hold it, and that job is of its owner and its pool.
-- A reservation that does not hold any more goes at the next look.
SELECT r.batch_id, r.job_id, r.incarnation_id, r.reserved_at
FROM weft.reservation r
JOIN weft.worker_incarnation i
USING (incarnation_id)
JOIN weft.job j ON j.batch_id = r.batch_id AND j.job_id = r.job_id
JOIN weft.batch b ON b.batch_id = r.batch_id
JOIN weft.queue q ON q.queue_id = b.queue_id
WHERE i.ended_at IS NULL
    AND weft._kept_for(r)
    AND (
        j.cpu_m > i.cpu_m
            OR j.memory_mib > i.memory_mib
            OR r.user_id <> b.user_id
            OR weft._lane_pool(j.lane_id, q.pool_id) <> i.pool_id
            OR NOT coalesce(
                i.offers ? 'machine', false
            )  -- of a machine that is made for one job
                AND NOT EXISTS (
                    SELECT
                    FROM weft.worker_lane l
                    WHERE l.incarnation_id = r.incarnation_id AND l.lane_id = j.lane_id
                )
    )
