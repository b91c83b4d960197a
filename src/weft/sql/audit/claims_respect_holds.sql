-- No held job was claimed after its hold was acknowledged, but for what a limit that is near admitted.
-- A batch that is being removed is incomplete.
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, h.group_id, h.held_at
FROM weft._runs() x
JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = x.job_id
JOIN weft.group_ancestor n ON n.batch_id = j.batch_id AND n.group_id = j.group_id
JOIN weft.group_hold h ON h.batch_id = n.batch_id AND h.group_id = n.ancestor_id AND h.released_at IS NULL
-- A job may have joined a set since.
JOIN weft.job_group g ON g.batch_id = h.batch_id
    AND g.group_id = h.group_id
    AND NOT g.is_set
-- The hold is dated before it waits for claims that are under way; those may be some milliseconds younger.
WHERE x.claimed_at > h.held_at + interval '1 second'
    AND NOT EXISTS (
        SELECT
        FROM weft.admission a
        WHERE a.batch_id = x.batch_id
            AND a.job_id = x.job_id
            AND a.attempt = x.attempt
            AND a.limit_id = h.limit_id
            AND a.admitted_at <= x.claimed_at + interval '1 second'
    )
UNION ALL
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, NULL, h.held_at
FROM weft.job_hold h
JOIN weft._runs() x ON x.batch_id = h.batch_id AND x.job_id = h.job_id
WHERE x.claimed_at > h.held_at + interval '1 second'
