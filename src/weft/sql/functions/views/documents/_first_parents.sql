-- _first_parents: the numbers of the first parents of a job, at most limit_parents, and how many there are; NULL: more than limit_counted.
--   end_parents: those of them whose end is enough, if there are some.
-- Plan: edges by child, one more than is shown or counted, however many there are.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._first_parents(of_batch_id bigint, of_job_id int, limit_parents int, limit_counted int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('parents', to_jsonb(coalesce(x.ids[:limit_parents], '{}')),
        'n_parents', CASE WHEN coalesce(cardinality(x.ids), 0) <= limit_counted THEN coalesce(cardinality(x.ids), 0) END)
        || jsonb_strip_nulls(jsonb_build_object('end_parents', (SELECT jsonb_agg(e.parent_id ORDER BY e.parent_id) FROM weft.edge e
            WHERE e.on_end AND e.batch_id = of_batch_id AND e.child_id = of_job_id AND e.parent_id = ANY (x.ids[:limit_parents]))))
    FROM (SELECT ARRAY(SELECT e.parent_id FROM weft.edge e WHERE e.batch_id = of_batch_id AND e.child_id = of_job_id
        ORDER BY e.parent_id LIMIT greatest(limit_parents::bigint, limit_counted::bigint + 1)) AS ids OFFSET 0) x
$$;
