-- Each place belongs to a job that runs, travels, waits for its machine or is offered, and each such job has
--   one at each of its gates.
-- At those that count starts only until it is claimed.
SELECT p.batch_id, p.job_id, p.gate_id, 'no job has this place' AS problem
FROM weft.place p
WHERE NOT EXISTS (
    SELECT
    FROM weft.job j
    WHERE j.batch_id = p.batch_id
        AND j.job_id = p.job_id
        AND (
            j.state IN (STATE_QUEUED, STATE_CREATING, STATE_RUNNING)
                OR j.state = STATE_READY
                    AND EXISTS (
                        SELECT
                        FROM weft.ready_job q
                        WHERE q.batch_id = j.batch_id AND q.job_id = j.job_id AND q.gate_set_id = 0
                    )
        )
)
UNION ALL
SELECT j.batch_id, j.job_id, m.gate_id, 'it has no place'
FROM weft.batch b
JOIN weft.job j ON j.batch_id = b.batch_id
JOIN weft.gate_member m ON m.gate_set_id IN (b.gate_set_id, j.gate_set_id)
WHERE b.gated
    AND NOT b.removing
    AND (
        j.state IN (STATE_QUEUED, STATE_CREATING, STATE_RUNNING)
            OR j.state = STATE_READY
                AND j.listed
                AND EXISTS (
                    SELECT
                    FROM weft.ready_job q
                    WHERE q.batch_id = j.batch_id AND q.job_id = j.job_id AND q.gate_set_id = 0
                )
    )
    AND NOT EXISTS (
        SELECT
        FROM weft.place p
        WHERE p.batch_id = j.batch_id AND p.job_id = j.job_id AND p.gate_id = m.gate_id
    )
    AND NOT (
        j.state <> STATE_READY
            AND EXISTS (
                SELECT
                FROM weft.gate g
                JOIN weft._gate_kinds() k ON k.kind = g.kind AND k.by_date
                WHERE g.gate_id = m.gate_id
            )
    )
UNION ALL
-- Nothing that has gates stands beside them.
SELECT
    r.batch_id, r.first_job, NULL, 'its range is offered'
FROM weft.runnable r
JOIN weft.batch b
USING (batch_id)
WHERE b.gate_set_id <> 0 AND r.gate_set_id NOT IN (1, b.gate_set_id)
