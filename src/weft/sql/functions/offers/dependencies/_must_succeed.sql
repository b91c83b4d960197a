-- _must_succeed: whether the child needs the success of this parent; else its end is enough.
-- Plan: by key, in an index of the few edges of the second kind.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._must_succeed(of_batch_id bigint, of_parent int, of_child int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM weft.edge e WHERE e.on_end
        AND e.batch_id = of_batch_id AND e.child_id = of_child AND e.parent_id = of_parent)
$$;
