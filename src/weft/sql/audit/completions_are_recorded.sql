-- Every shown group whose jobs have all ended has its completion recorded, and no other is marked complete;
--   as of the last fold.
-- A batch that is being removed is incomplete.
SELECT g.batch_id, g.group_id, g.complete, g.n_completions, count(c.completion) AS n_recorded
FROM weft.group_count g
LEFT JOIN weft.group_completion c ON c.batch_id = g.batch_id AND c.group_id = g.group_id
GROUP BY g.batch_id, g.group_id
HAVING g.complete <> (
    g.n_pending + g.n_ready + g.n_queued + g.n_creating + g.n_running + g.n_blocked = 0
        AND g.n_succeeded + g.n_failed + g.n_errored + g.n_cancelled > 0
        AND NOT EXISTS (
            SELECT
            FROM weft.job_group j
            WHERE j.batch_id = g.batch_id AND j.group_id = g.group_id AND j.hidden
        )
)
    OR count(c.completion) <> g.n_completions
    OR (g.complete AND g.n_completions = 0)
