-- No two attempts of one job overlap in time, and their numbers are in order without a gap.
-- A batch that is being removed is incomplete.
SELECT a.batch_id, a.job_id, a.attempt, a.claimed_at, a.previous_ended_at
FROM (
    SELECT x.*, lag(coalesce(x.ended_at, 'infinity')) OVER w AS previous_ended_at, row_number() OVER w AS n
    FROM weft._runs() x
    WINDOW w AS (PARTITION BY x.batch_id, x.job_id ORDER BY x.attempt)
) a
WHERE a.claimed_at < a.previous_ended_at OR a.n <> a.attempt
