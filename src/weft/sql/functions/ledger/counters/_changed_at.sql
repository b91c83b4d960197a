-- _changed_at: when the state of a job changed last, as far as its attempts and its cancel say.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._changed_at(of_batch_id bigint, of_job_id int) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT greatest(
        b.created_at,
        j.cancelled_at,
        CASE WHEN j.state = STATE_RUNNING THEN j.claimed_at END,
        (SELECT max(a.ended_at) FROM weft.attempt a WHERE a.batch_id = of_batch_id AND a.job_id = of_job_id)
    )
    FROM weft.batch b
    JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = of_job_id
    WHERE b.batch_id = of_batch_id
$$;
