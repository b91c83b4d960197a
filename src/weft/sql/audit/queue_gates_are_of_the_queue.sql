-- The gates of a queue that a job has are those of its own queue and of the owner of its batch.
SELECT j.batch_id, j.job_id, g.kind, g.key, h.countables ->> 'queue' AS queue, b.user_id
FROM weft.job j
JOIN weft.batch b ON b.batch_id = j.batch_id
JOIN weft.shape h ON h.shape_id = j.shape_id
JOIN weft.gate_member m ON m.gate_set_id = j.gate_set_id
JOIN weft.gate g ON g.gate_id = m.gate_id AND g.kind IN ('queue', 'queue_user')
WHERE j.gate_set_id IS NOT NULL AND g.key <> concat('t', j.tenant_id, '/', coalesce(h.countables ->> 'queue', 'default'),
    CASE WHEN g.kind = 'queue_user' THEN concat('/', b.user_id) END)
