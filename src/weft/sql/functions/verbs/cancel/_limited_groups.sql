-- _limited_groups: which of a group (0: the batch) and those below it their limits of failures have
--   cancelled, by a date.
-- Plan: the cancels of the batch, ancestors by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._limited_groups(of_batch_id bigint, within_group int, until timestamptz)
RETURNS int[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(c.group_id ORDER BY c.group_id), '{}')
    FROM weft.group_cancel c
    WHERE c.batch_id = of_batch_id
        AND c.actor = 'cancel_after_n_failures'
        AND c.cancelled_at <= until
        -- A set stands below no group, but its jobs are the batch's.
        AND (
            within_group = 0
                OR EXISTS (
                    SELECT
                    FROM weft.group_ancestor a
                    WHERE a.batch_id = c.batch_id AND a.group_id = c.group_id AND a.ancestor_id = within_group
                )
        )
$$;
