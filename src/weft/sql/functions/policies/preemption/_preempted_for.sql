-- _preempted_for: the running attempts that are being stopped for a job that waits, as far as the caller sees
--   them.
-- Plan: by the index of causes; jobs and batches by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._preempted_for(of_batch_id bigint, of_job_id int, of_attempt smallint)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        jsonb_agg(
            jsonb_build_object('batch_id', j.batch_id, 'job_id', j.job_id) ORDER BY j.batch_id, j.job_id
        ),
        '[]'
    )
    FROM weft.preemption p
    CROSS JOIN LATERAL (
        SELECT y.* FROM weft.job y WHERE y.batch_id = p.batch_id AND y.job_id = p.job_id OFFSET 0
    ) j
    WHERE p.for_batch_id = of_batch_id
        AND p.for_job_id = of_job_id
        AND p.for_attempt <= of_attempt
        AND weft._sees_batch(p.batch_id)
        AND j.state = STATE_RUNNING
        AND j.attempt = p.attempt
$$;
