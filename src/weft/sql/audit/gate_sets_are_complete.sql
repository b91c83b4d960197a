-- Every set of gates has its members, and every member and every place has its gate.
-- Jobs in set 1 are parked and wait for no gate.
-- A batch that is being removed is incomplete.
SELECT s.batch_id, s.gate_set_id, NULL::int AS gate_id, NULL::int AS job_id
FROM weft.gate_set s
WHERE s.gate_set_id <> 1
    AND s.gate_ids <> ARRAY(
        SELECT u.x
        FROM weft.gate_member m
        CROSS JOIN LATERAL (VALUES (m.gate_id), (CASE WHEN m.cost > 1 THEN -m.cost END)) u (x)
        WHERE m.gate_set_id = s.gate_set_id AND u.x IS NOT NULL
        ORDER BY m.gate_id, u.x DESC
    )
UNION ALL
SELECT m.batch_id, m.gate_set_id, m.gate_id, NULL
FROM weft.gate_member m
WHERE NOT EXISTS (SELECT FROM weft.gate g WHERE g.gate_id = m.gate_id)
    OR NOT EXISTS (SELECT FROM weft.gate_set s WHERE s.gate_set_id = m.gate_set_id)
UNION ALL
SELECT p.batch_id, NULL, p.gate_id, p.job_id
FROM weft.place p
WHERE NOT EXISTS (SELECT FROM weft.gate g WHERE g.gate_id = p.gate_id)
