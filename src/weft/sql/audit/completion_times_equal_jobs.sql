-- The recorded last end of a complete group, and its completion time, equal its jobs' last end; as of the
--   last fold.
-- A batch that is being removed is incomplete.
WITH job_end AS (
    SELECT j.batch_id, j.group_id, max(greatest(a.ended_at, j.cancelled_at)) AS ended_at
    FROM weft.job j
    JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
        AND u.update_id = j.update_id
        AND u.committed_at IS NOT NULL
    LEFT JOIN weft.attempt a ON a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
    WHERE j.state >= STATE_SUCCESS
    GROUP BY 1, 2
),
group_end AS (
    SELECT e.batch_id, n.ancestor_id AS group_id, max(e.ended_at) AS ended_at
    FROM job_end e
    JOIN weft.group_ancestor n ON n.batch_id = e.batch_id AND n.group_id = e.group_id
    GROUP BY 1, 2
),
unfolded AS (
    SELECT DISTINCT d.batch_id, n.ancestor_id AS group_id
    FROM weft._unfolded() d
    JOIN weft.group_ancestor n ON n.batch_id = d.batch_id AND n.group_id = d.group_id
)
SELECT c.batch_id, c.group_id, c.last_ended_at, e.ended_at, m.completed_at
FROM weft.group_count c
JOIN weft.job_group g
USING (batch_id, group_id)
LEFT JOIN group_end e
USING (batch_id, group_id)
LEFT JOIN weft.group_completion m ON m.batch_id = c.batch_id
    AND m.group_id = c.group_id
    AND m.completion = c.n_completions
WHERE c.complete
    AND NOT EXISTS (SELECT FROM unfolded u WHERE u.batch_id = c.batch_id AND u.group_id = c.group_id)
    AND (
        c.last_ended_at IS DISTINCT FROM e.ended_at
            OR m.completed_at IS DISTINCT FROM greatest(g.created_at, e.ended_at)
    )
