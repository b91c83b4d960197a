-- In no period did more jobs start behind a gate that counts starts than it ever had places.
-- Each start is dated by its claim, and comes at least the period after the start that was as many starts
--   before it as there are places.
WITH start AS (
    SELECT
        g.gate_id,
        g.key,
        g.max_ever,
        r.batch_id,
        r.job_id,
        r.claimed_at,
        lag(r.claimed_at, g.max_ever) OVER (PARTITION BY g.gate_id ORDER BY r.claimed_at) AS before_at
    FROM weft._runs() r
    JOIN weft.job j ON j.batch_id = r.batch_id AND j.job_id = r.job_id
    JOIN weft.gate_member m ON m.gate_set_id = j.gate_set_id
    JOIN weft.gate g ON g.gate_id = m.gate_id
    JOIN weft._gate_kinds() k ON k.kind = g.kind AND k.by_date
)
SELECT s.*
FROM start s
WHERE s.claimed_at - s.before_at < weft._gate_period(s.key)
