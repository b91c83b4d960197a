-- _keep_products: keep the products of jobs that have just ended well, with what was known of the jobs;
--   forget those of the others.
-- Safe to repeat: yes.
-- Locks: product (with the job).
-- Plan: everything by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._keep_products(batch_ids bigint[], job_ids int[], states smallint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.product p
    USING unnest(_keep_products.batch_ids, _keep_products.job_ids, _keep_products.states) t (b, j, state)
    JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
    JOIN weft.attempt a ON a.batch_id = t.b AND a.job_id = t.j AND a.attempt = j.attempt
    WHERE p.batch_id = t.b
        AND p.job_id = t.j
        AND p.kept_at IS NULL
        AND (
            t.state <> STATE_SUCCESS
                OR p.attempt <> j.attempt
                OR NOT weft._has_products(j.lifecycle_id, a.exit_code)
        );
    UPDATE weft.product p
    SET kept_at = a.ended_at, name = n.name, attributes = coalesce(n.attributes, '{}')
    FROM unnest(_keep_products.batch_ids, _keep_products.job_ids, _keep_products.states) t (b, j, state)
    JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
    JOIN weft.attempt a ON a.batch_id = t.b AND a.job_id = t.j AND a.attempt = j.attempt
    CROSS JOIN LATERAL (
        SELECT coalesce(l.name, r.name) AS name, coalesce(l.attributes, r.attributes) AS attributes
        FROM (SELECT) one
        LEFT JOIN weft.job_label l ON l.batch_id = t.b AND l.job_id = t.j
        LEFT JOIN weft.job_array r ON r.batch_id = t.b AND r.first_job = j.spec_first
    ) n
    WHERE p.batch_id = t.b
        AND p.job_id = t.j
        AND p.attempt = j.attempt
        AND p.kept_at IS NULL
        AND t.state = STATE_SUCCESS;
END $$;
