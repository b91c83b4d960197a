-- _bad_parent: the parent whose end cancelled this job, in words; NULL if no parent did.
-- Plan: edges by child, jobs by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._bad_parent(of_batch_id bigint, of_job_id int, it_was boolean) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT format('parent j%s: %s', e.parent_id, s.word)
    FROM weft.edge e
    JOIN weft.job p ON p.batch_id = e.batch_id AND p.job_id = e.parent_id
    JOIN weft.job_state s ON s.state = p.state
    WHERE it_was
        AND e.batch_id = of_batch_id
        AND e.child_id = of_job_id
        AND p.state > STATE_SUCCESS
        AND (
            NOT weft._suffices(e.need, e.batch_id, e.parent_id)
                OR e.need = ANY (
                    ARRAY(
                        SELECT s.need
                        FROM weft._share_counts(of_batch_id, ARRAY[of_job_id]) s
                        WHERE s.n_failed > s.n_jobs - s.n_needed
                    )
                )
        )
    ORDER BY e.parent_id
    LIMIT 1
$$;
