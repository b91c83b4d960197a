-- _open_parents: the first parents of a job that have not ended, with their states, those that run first.
-- Plan: edges by child, jobs by key; it looks at 1000 parents at most, however many there are.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._open_parents(of_batch_id bigint, of_job_id int, shown_max int DEFAULT 3) RETURNS jsonb LANGUAGE sql STABLE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('job_id', x.job_id, 'state', x.word,
        'on_end', NOT weft._must_succeed(of_batch_id, x.job_id, of_job_id))), '[]') FROM (
        SELECT p.job_id, s.word
        FROM (SELECT e.parent_id FROM weft.edge e WHERE e.batch_id = of_batch_id AND e.child_id = of_job_id
            ORDER BY e.parent_id LIMIT 1000) e
        CROSS JOIN LATERAL (SELECT y.job_id, y.state FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = e.parent_id OFFSET 0) p
        JOIN weft.job_state s ON s.state = p.state
        WHERE p.state < STATE_SUCCESS ORDER BY p.state <> STATE_RUNNING, p.job_id LIMIT shown_max) x
$$;
