-- Each batch of a door that is complete says how its job has ended and when; as of the last fold. No other batch does.
WITH unfolded AS (
    SELECT DISTINCT d.batch_id FROM weft._unfolded() d),
ended AS (
    SELECT b.batch_id, b.tenant_id, b.user_id, b.door, j.state, m.completed_at
    FROM weft.batch b JOIN weft.group_count c ON c.batch_id = b.batch_id AND c.group_id = 0 AND c.complete
    JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = 1
    JOIN weft.group_completion m ON m.batch_id = b.batch_id AND m.group_id = 0 AND m.completion = c.n_completions
    WHERE b.foreign_id IS NOT NULL AND b.door IS NOT NULL AND NOT b.removing)
SELECT coalesce(n.batch_id, f.batch_id) AS batch_id, n.state, f.state AS noted, n.completed_at, f.ended_at
FROM ended n FULL JOIN weft.foreign_end f ON f.batch_id = n.batch_id
LEFT JOIN weft.batch b ON b.batch_id = f.batch_id
WHERE NOT EXISTS (SELECT FROM unfolded u WHERE u.batch_id = coalesce(n.batch_id, f.batch_id))
  AND CASE WHEN n.batch_id IS NULL THEN  -- it was retried, is removed, or is a record
        b.batch_id IS NULL OR (f.tenant_id, f.user_id, f.door) IS DISTINCT FROM (b.tenant_id, b.user_id, b.door)
        OR (f.state = ENDED_ELSEWHERE) <> NOT EXISTS (SELECT FROM weft.job j WHERE j.batch_id = f.batch_id) AND NOT b.removing
    ELSE (n.tenant_id, n.user_id, n.door, n.state, n.completed_at)
        IS DISTINCT FROM (f.tenant_id, f.user_id, f.door, f.state, f.ended_at) END
