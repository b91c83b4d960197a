-- _recount_parents: count anew for how many parents these pending jobs wait, and whether one did not succeed. Those of `may_open` that wait
--   for none become ready.
-- Safe to repeat: yes.
-- Locks: child (by the caller). A report of a parent's end either shows in the parent's state here, or waits for the row of the child.
-- Plan: edges by child, jobs and cascade by key.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._recount_parents(of_batch_id bigint, of_job_ids int[], may_open int[]) RETURNS void LANGUAGE sql AS $$
    -- Noted ends are in the states of the parents.
    WITH gone AS (DELETE FROM weft.parent_end p WHERE p.batch_id = of_batch_id AND p.child_id = ANY (of_job_ids)),
    counted AS MATERIALIZED (
        SELECT x AS job_id, c.n, c.bad FROM unnest(of_job_ids) x CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE (p.state < STATE_SUCCESS OR t.is_untold) AND e.need IS DISTINCT FROM NEED_TOLD)::int AS n,
                coalesce(bool_or(p.state > STATE_SUCCESS AND NOT t.is_untold AND NOT weft._suffices(e.need, of_batch_id, e.parent_id)),
                    false) AS bad
            FROM weft.edge e
            CROSS JOIN LATERAL (SELECT j.state FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = e.parent_id OFFSET 0) p
            CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM weft.cascade s WHERE s.batch_id = of_batch_id AND s.job_id = e.parent_id
                AND s.next_child < e.child_id) AS is_untold) t
            WHERE e.batch_id = of_batch_id AND e.child_id = x) c)
    UPDATE weft.job j SET n_unfinished = c.n, bad_parent = c.bad,
        state = CASE WHEN c.n = 0 AND j.job_id = ANY (may_open) THEN STATE_READY ELSE j.state END
    FROM counted c WHERE j.batch_id = of_batch_id AND j.job_id = c.job_id
$$;
