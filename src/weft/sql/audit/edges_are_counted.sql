-- A waiting job counts its parents that have not done what it needs, and knows whether one failed that should
--   have succeeded.
-- Except ends noted or in work. A batch that is being removed is incomplete.
SELECT
    j.batch_id,
    j.job_id,
    j.state,
    j.n_unfinished,
    count(*) FILTER (WHERE p.state < STATE_SUCCESS) AS n_not_ended
FROM weft.job j
JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
    AND u.update_id = j.update_id
    AND u.committed_at IS NOT NULL
JOIN weft.edge e ON e.batch_id = j.batch_id AND e.child_id = j.job_id
JOIN weft.job p ON p.batch_id = e.batch_id AND p.job_id = e.parent_id
LEFT JOIN weft.cascade c ON c.batch_id = e.batch_id AND c.job_id = e.parent_id AND c.next_child < e.child_id
LEFT JOIN (
    SELECT x.batch_id, x.child_id, sum(x.n) AS n, bool_or(x.bad) AS bad FROM weft.parent_end x GROUP BY 1, 2
) d ON d.batch_id = j.batch_id
    AND d.child_id = j.job_id
WHERE j.state = STATE_PENDING
GROUP BY j.batch_id, j.job_id, d.n, d.bad
HAVING j.n_unfinished - coalesce(d.n, 0) <> count(*) FILTER (
    WHERE (p.state < STATE_SUCCESS OR c.job_id IS NOT NULL)
        AND e.need IS DISTINCT FROM NEED_TOLD
        AND coalesce(e.need, 0) >= 0
) + (
    SELECT count(*)
    FROM weft._share_counts(j.batch_id, ARRAY[j.job_id]) s
    WHERE s.n_succeeded < s.n_needed AND s.n_failed <= s.n_jobs - s.n_needed
)
    OR EXISTS (
        SELECT
        FROM (
            SELECT *
            FROM weft._share_counts(j.batch_id, ARRAY[j.job_id])
            EXCEPT
            SELECT *
            FROM weft.parent_share
        ) s
    )
    OR j.n_unfinished = 0
    OR (j.bad_parent OR coalesce(d.bad, false)) <> (
        coalesce(
            bool_or(p.state > STATE_SUCCESS)
                FILTER (WHERE c.job_id IS NULL AND NOT weft._suffices(e.need, e.batch_id, e.parent_id)),
            false
        )
            OR EXISTS (
                SELECT
                FROM weft._share_counts(j.batch_id, ARRAY[j.job_id]) s
                WHERE s.n_failed > s.n_jobs - s.n_needed
            )
    )
