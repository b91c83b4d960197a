-- _is_stopping: whether the cancels of these groups still have jobs to stop: some wait for the driver, or
--   run.
-- Plan: cancels and counters by key; if jobs run, the live attempts of all workers.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_stopping(of_batch_id bigint, group_ids int[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.group_cancel c
        WHERE c.batch_id = of_batch_id AND c.group_id = ANY (group_ids) AND NOT c.swept
    )
        OR EXISTS (
            SELECT
            FROM weft._group_counts(array_fill(of_batch_id, ARRAY[cardinality(group_ids)]), group_ids) n
            WHERE n.n_running > 0
        )
            AND EXISTS (
                SELECT
                FROM weft.worker_incarnation i
                CROSS JOIN LATERAL weft._live_attempts(i.incarnation_id) j
                JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id
                WHERE i.ended_at IS NULL
                    AND j.batch_id = of_batch_id
                    AND NOT j.always_run
                    AND a.ancestor_id = ANY (group_ids)
            )
$$;
