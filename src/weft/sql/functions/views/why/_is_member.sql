-- _is_member: whether a job whose group or membership is this one belongs to a group; group 0 has all jobs.
-- Plan: ancestors by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_member(of_batch_id bigint, of_group_id int, of_ancestor_id int)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT of_ancestor_id = 0
        OR EXISTS (
            SELECT
            FROM weft.group_ancestor g
            WHERE g.batch_id = of_batch_id AND g.group_id = of_group_id AND g.ancestor_id = of_ancestor_id
        )
$$;
