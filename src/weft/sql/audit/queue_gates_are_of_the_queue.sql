-- The gates of a queue that a job has are those of its own queue and of the owner of its batch.
SELECT j.batch_id, j.job_id, g.kind, g.key, h.countables ->> 'queue' AS queue, b.user_id
FROM weft.job j
JOIN weft.batch b ON b.batch_id = j.batch_id
JOIN weft.shape h ON h.shape_id = j.shape_id
JOIN weft.gate_member m ON m.gate_set_id = j.gate_set_id
JOIN weft.gate g ON g.gate_id = m.gate_id
JOIN weft._gate_kinds() k ON k.kind = g.kind AND k.limited_by = 'queue'
WHERE j.gate_set_id IS NOT NULL
    AND g.key <> weft._gate_key(
        k.owner,
        j.tenant_id,
        NULL,
        coalesce(h.countables ->> 'queue', 'default'),
        CASE WHEN k.each_user THEN b.user_id END
    )
