-- _cancelled_groups: groups whose cancel is not swept yet, so that a walk over their jobs, perhaps a million,
--   need not look up each job's groups.
-- Plan: unswept cancels of the batch, groups below by key; of a wide tree only the first.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._cancelled_groups(of_batch_id bigint) RETURNS int4multirange
LANGUAGE sql STABLE AS $$
    SELECT coalesce(range_agg(int4range(x.group_id, x.group_id, '[]')), '{}')
    FROM (
        SELECT a.group_id
        FROM weft.group_cancel c
        JOIN weft.group_ancestor a ON a.batch_id = c.batch_id AND a.ancestor_id = c.group_id
        WHERE c.batch_id = of_batch_id AND NOT c.swept
        LIMIT 10000
    ) x
$$;
