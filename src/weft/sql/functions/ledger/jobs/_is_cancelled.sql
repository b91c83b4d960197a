-- _is_cancelled: whether a job of this group may not run because a group above it was cancelled.
-- Locks: none.
-- Plan: ancestors by key, cancels by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_cancelled(of_batch_id bigint, of_group_id int, always_run boolean)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.group_ancestor a
        JOIN weft.group_cancel c ON c.batch_id = a.batch_id AND c.group_id = a.ancestor_id
        WHERE a.batch_id = of_batch_id
            AND a.group_id = of_group_id
            AND (c.force OR NOT _is_cancelled.always_run)
    )
$$;
