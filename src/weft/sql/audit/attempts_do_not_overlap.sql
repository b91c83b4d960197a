-- No two attempts of one job overlap in time, and their numbers are in order without a gap.
-- A batch that is being removed is incomplete.
SELECT a.batch_id, a.job_id, a.attempt, a.claimed_at, a.previous_ended_at
FROM (
    SELECT x.*, lag(x.ended_at) OVER w AS previous_ended_at, row_number() OVER w AS n
    FROM (SELECT batch_id, job_id, attempt, claimed_at, ended_at FROM weft.attempt
          UNION ALL SELECT batch_id, job_id, attempt, claimed_at, 'infinity' FROM weft.job WHERE state = STATE_RUNNING) x
    WINDOW w AS (PARTITION BY x.batch_id, x.job_id ORDER BY x.attempt)) a
WHERE a.claimed_at < a.previous_ended_at OR a.n <> a.attempt
