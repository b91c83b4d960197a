-- Every live worker serves exactly the lanes that it can serve, and every shape and job has the lane of its
--   requests.
SELECT
    i.incarnation_id,
    l.lane_id,
    w.lane_id IS NOT NULL AS serves,
    NULL::bigint AS batch_id,
    NULL::int AS job_id
FROM weft.worker_incarnation i
CROSS JOIN weft.lane l
LEFT JOIN weft.worker_lane w ON w.incarnation_id = i.incarnation_id AND w.lane_id = l.lane_id
WHERE i.ended_at IS NULL AND (w.lane_id IS NOT NULL) <> weft._serves(weft._offers(i), l.asks)
UNION ALL
SELECT NULL, s.lane_id, NULL, NULL, NULL
FROM weft.shape s
LEFT JOIN weft.lane l
USING (lane_id)
WHERE l.asks IS DISTINCT FROM '{"executor": "process"}' || s.countables
    || CASE WHEN s.storage_mib > 0 THEN jsonb_build_object('storage_mib', s.storage_mib) ELSE '{}' END
    || CASE WHEN s.gpu > 0 THEN jsonb_build_object('gpu', s.gpu) ELSE '{}' END
UNION ALL
SELECT NULL, j.lane_id, NULL, j.batch_id, j.job_id
FROM weft.job j
JOIN weft.shape s
USING (shape_id)
WHERE j.lane_id <> s.lane_id
