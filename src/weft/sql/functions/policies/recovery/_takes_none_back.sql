-- _takes_none_back: whether the queue of jobs with this shape is closed, or was deleted, so that none of them
--   can go back into it.
-- Plan: the shape by key, the queue by its name.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._takes_none_back(of_tenant_id int, of_shape_id int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.shape s
        WHERE s.shape_id = of_shape_id
            AND s.countables ? 'queue'
            AND NOT EXISTS (
                SELECT
                FROM weft.queue q
                WHERE q.tenant_id = of_tenant_id AND q.name = s.countables ->> 'queue' AND q.state <> 'closed'
            )
    )
$$;
