-- _check_liftable: raise WF204 if a group was cancelled, unless its own limit of failures did it and it is retried as a whole.
-- Safe to repeat: yes, it only reads.   Plan: ancestors and cancels by key.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_liftable(of_batch_id bigint, of_group_id int, as_whole boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF weft._is_cancelled(of_batch_id, of_group_id, false)
        AND NOT (as_whole AND NOT EXISTS (
            SELECT FROM weft.group_ancestor a JOIN weft.group_cancel c ON c.batch_id = a.batch_id AND c.group_id = a.ancestor_id
            WHERE a.batch_id = of_batch_id AND a.group_id = of_group_id
              AND (c.actor <> 'cancel_after_n_failures' OR c.group_id <> of_group_id))) THEN
        PERFORM weft._fail('WF204', format('%sbatch b%s was cancelled', CASE WHEN of_group_id <> 0 THEN 'a group of ' END, of_batch_id),
            'What was cancelled does not run again.', weft._retry_hint(of_batch_id, of_group_id));
    END IF;
END $$;
