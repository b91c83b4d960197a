-- list_removed: of which of these batches nothing is to be kept: they were deleted and are removed, or are
--   complete, and what they have left was removed (_remove_output). Whoever keeps something of them may
--   remove it, too.
-- Plan: operations and batches by key; of a
--   batch whose output was removed also its jobs.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_removed(batch_ids bigint[]) RETURNS SETOF bigint
LANGUAGE sql STABLE AS $$
    SELECT t.b
    FROM unnest(list_removed.batch_ids) t (b)
    WHERE EXISTS (
        SELECT
        FROM weft.operation o
        WHERE o.batch_id = t.b AND o.kind = 'delete_batch' AND o.state = 'success'
    )
        AND NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = t.b)
        OR EXISTS (
            SELECT
            FROM weft.output_term o
            WHERE o.batch_id = t.b
                AND o.removed_at >= (
                    SELECT max(c.completed_at)
                    FROM weft.group_completion c
                    WHERE c.batch_id = t.b AND c.group_id = 0
                )
        )
            AND NOT EXISTS (SELECT FROM weft.job j WHERE j.batch_id = t.b AND j.state < STATE_SUCCESS)
$$;
