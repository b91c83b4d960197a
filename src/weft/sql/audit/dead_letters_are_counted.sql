-- The counts of causes, folded and not folded together, equal the dead letters; and these are of jobs that
--   failed.
-- A batch that is being removed is incomplete.
SELECT
    coalesce(c.batch_id, l.batch_id) AS batch_id,
    coalesce(c.cause_id, l.cause_id) AS cause_id,
    c.n::text AS counted,
    l.n::text AS found
FROM (
    SELECT d.batch_id, d.cause_id, ARRAY[sum(d.n_jobs), sum(d.n_acknowledged)]::bigint[] AS n
    FROM (
        SELECT batch_id, cause_id, n_jobs, n_acknowledged
        FROM weft.failure_cause
        UNION ALL
        SELECT batch_id, cause_id, n_jobs, n_acknowledged
        FROM weft.failure_delta
    ) d
    GROUP BY 1, 2
) c
FULL JOIN (
    SELECT d.batch_id, d.cause_id, ARRAY[count(j.job_id), count(j.job_id) FILTER (WHERE d.acknowledged)] AS n
    FROM weft.dead_letter d
    LEFT JOIN weft.job j ON j.batch_id = d.batch_id
        AND j.job_id = d.job_id
        AND j.state IN (STATE_FAILED, STATE_ERROR)
    GROUP BY 1, 2
) l ON l.batch_id = c.batch_id
    AND l.cause_id = c.cause_id
WHERE coalesce(c.n, '{0,0}') IS DISTINCT FROM l.n AND (l.n IS NOT NULL OR c.n <> '{0,0}')
UNION ALL
-- A job that has failed is one.
SELECT
    j.batch_id, NULL, 'job ' || j.job_id, s.word
FROM weft.job j
JOIN weft.job_state s
USING (state)
WHERE j.state IN (STATE_FAILED, STATE_ERROR)
    AND NOT EXISTS (SELECT FROM weft.dead_letter d WHERE d.batch_id = j.batch_id AND d.job_id = j.job_id)
