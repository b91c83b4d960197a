-- _retry_hint: what to do about jobs of a cancelled group that are not retried.
-- Plan: ancestors and cancels by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._retry_hint(of_batch_id bigint, of_group_id int) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN bool_and(c.actor = 'cancel_after_n_failures')
            THEN format(
                'Its limit of failures did it. Retry the whole batch to lift that: `weft retry b%s`.',
                of_batch_id
            )
        ELSE 'Submit the jobs to a new batch.'
    END
    FROM weft.group_ancestor a
    JOIN weft.group_cancel c ON c.batch_id = a.batch_id AND c.group_id = a.ancestor_id
    WHERE a.batch_id = of_batch_id AND a.group_id = of_group_id
$$;
