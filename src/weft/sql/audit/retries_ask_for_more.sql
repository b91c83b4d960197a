-- A job's sizes are those of its shape, and no attempt of a job whose retries ask for more had less, or less
--   time, than the one before it.
SELECT j.batch_id, j.job_id, j.attempt, h.shape_id
FROM weft.job j
JOIN weft.shape h ON h.shape_id = j.shape_id
WHERE h.cpu_m <> j.cpu_m OR h.memory_mib <> j.memory_mib OR h.lane_id <> j.lane_id
UNION ALL
SELECT a.batch_id, a.job_id, b.attempt, b.shape_id
FROM weft.attempt a
JOIN weft.attempt b ON b.batch_id = a.batch_id
    AND b.job_id = a.job_id
    AND b.attempt = a.attempt + 1
    AND b.shape_id <> a.shape_id
JOIN weft.shape o ON o.shape_id = a.shape_id
JOIN weft.shape n ON n.shape_id = b.shape_id
WHERE n.cpu_m < o.cpu_m
    OR n.memory_mib < o.memory_mib
    OR n.storage_mib < o.storage_mib
    OR split_part(n.countables ->> 'timeout_s', '-', 1)::bigint <
        split_part(o.countables ->> 'timeout_s', '-', 1)::bigint
