-- The state of each job of a door is noted, and when it changed; as of the last fold. No other job is noted.
WITH unfolded AS (SELECT DISTINCT d.batch_id FROM weft._unfolded() d),
there AS (
    SELECT b.batch_id, b.tenant_id, b.user_id, b.door, j.state, weft._changed_at(b.batch_id, 1) AS changed_at
    FROM weft.batch b
    JOIN weft.group_count c ON c.batch_id = b.batch_id AND c.group_id = 0
    JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = 1
    WHERE b.foreign_id IS NOT NULL AND b.door IS NOT NULL AND NOT b.removing
)
SELECT
    coalesce(n.batch_id, f.batch_id) AS batch_id,
    n.state,
    f.state AS noted,
    n.changed_at,
    f.changed_at AS noted_at
FROM there n
FULL JOIN weft.foreign_state f ON f.batch_id = n.batch_id
LEFT JOIN weft.batch b ON b.batch_id = f.batch_id
WHERE NOT EXISTS (SELECT FROM unfolded u WHERE u.batch_id = coalesce(n.batch_id, f.batch_id))
    AND CASE
        WHEN n.batch_id IS NULL
            THEN  -- it is removed, or is a record
                    b.batch_id IS NULL
                OR (f.tenant_id, f.user_id, f.door) IS DISTINCT FROM (b.tenant_id, b.user_id, b.door)
                OR (f.state = ENDED_ELSEWHERE) <> NOT EXISTS (
                    SELECT FROM weft.job j WHERE j.batch_id = f.batch_id
                )
                    AND NOT b.removing
        ELSE (n.tenant_id, n.user_id, n.door, n.state, n.changed_at)
            IS DISTINCT FROM (f.tenant_id, f.user_id, f.door, f.state, f.changed_at)
    END
