-- _recount_parents: count anew for how many parents these pending jobs wait, and whether one did not succeed.
--   Those of `may_open` that wait for none become ready.
-- Safe to repeat: yes.
-- Locks: child (by the caller). A report of a parent's end either shows in the parent's state here, or waits
--   for the row of the child.
-- Plan: edges by child, jobs and cascade by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._recount_parents(of_batch_id bigint, of_job_ids int[], may_open int[])
RETURNS void LANGUAGE sql AS $$
    -- Noted ends are in the states of the parents.
    WITH gone AS (
        DELETE FROM weft.parent_end p WHERE p.batch_id = of_batch_id AND p.child_id = ANY (of_job_ids)
    ),
    share AS (
        INSERT INTO weft.parent_share AS s
        SELECT *
        FROM weft._share_counts(of_batch_id, of_job_ids)
        ON CONFLICT (batch_id, child_id, need) DO UPDATE
        SET n_succeeded = excluded.n_succeeded, n_failed = excluded.n_failed
        RETURNING s.child_id, s.n_succeeded < s.n_needed AS misses, s.n_failed > s.n_jobs - s.n_needed AS bad
    ),
    counted AS MATERIALIZED (
        SELECT x AS job_id, c.n + coalesce(h.n, 0) AS n, c.bad OR coalesce(h.bad, false) AS bad
        FROM unnest(of_job_ids) x
        LEFT JOIN (
            SELECT s.child_id, count(*) FILTER (WHERE s.misses AND NOT s.bad)::int AS n, bool_or(s.bad) AS bad
            FROM share s
            GROUP BY 1
        ) h ON h.child_id = x
        CROSS JOIN LATERAL (
            SELECT
                count(*) FILTER (
                    WHERE (p.state < STATE_SUCCESS OR t.is_untold) AND e.need IS DISTINCT FROM NEED_TOLD
                )::int AS n,
                coalesce(
                    bool_or(
                        p.state > STATE_SUCCESS
                            AND NOT t.is_untold
                            AND NOT weft._suffices(e.need, of_batch_id, e.parent_id)
                    ),
                    false
                ) AS bad
            FROM weft.edge e
            LEFT JOIN LATERAL (
                SELECT j.state
                FROM weft.job j
                WHERE j.batch_id = of_batch_id AND j.job_id = e.parent_id
                OFFSET 0
            ) p ON true
            CROSS JOIN LATERAL (
                SELECT p.state IS NULL
                    OR EXISTS (
                        SELECT
                        FROM weft.cascade s
                        WHERE s.batch_id = of_batch_id
                            AND s.job_id = e.parent_id
                            AND s.next_child < e.child_id
                    ) AS is_untold
            ) t
            WHERE e.batch_id = of_batch_id AND e.child_id = x AND coalesce(e.need, 0) >= 0
        ) c
    )
    UPDATE weft.job j
    SET
        n_unfinished = c.n,
        bad_parent = c.bad,
        state = CASE WHEN c.n = 0 AND j.job_id = ANY (may_open) THEN STATE_READY ELSE j.state END
    FROM counted c
    WHERE j.batch_id = of_batch_id AND j.job_id = c.job_id
$$;
