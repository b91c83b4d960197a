-- _key_holders: those of the first jobs that have a place of a concurrency key which a job waits for that the
--   caller sees, as a field of its document.
-- Plan: the gate and its places by key.
-- Returns: no field if the job has its place, or a place is free.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._key_holders(
    of_tenant_id int, of_key text, of_batch_id bigint, of_job_id int, shown_max int DEFAULT 10
) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT jsonb_build_object(
        'key_holders', jsonb_agg(
            jsonb_build_object('batch_id', p.batch_id, 'job_id', p.job_id) ORDER BY p.admitted_at,
            p.batch_id,
            p.job_id
        )
    )
    FROM weft._named_gates('concurrency_key', of_tenant_id, of_key) g
    CROSS JOIN LATERAL (
        SELECT x.batch_id, x.job_id, x.admitted_at
        FROM weft.place x
        WHERE x.gate_id = g.gate_id
        ORDER BY x.admitted_at
        LIMIT shown_max
    ) p
    WHERE g.n_taken >= g.max_places
        AND NOT EXISTS (
            SELECT
            FROM weft.place x
            WHERE x.batch_id = of_batch_id AND x.job_id = of_job_id AND x.gate_id = g.gate_id
        )
        AND weft._sees_batch(p.batch_id)
    HAVING count(*) > 0
$$;
