-- get_condition: what is known of a condition that the caller sees, and some of its jobs that they see, those
--   that are due first.
-- Safe to repeat: yes, it only reads.
-- Plan: by key; jobs by date; for who does not see the tenant as _shown_waiting, the first of at most
--   10,000.
-- Raises WF116.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_condition(tenant_id int, of_condition_id bigint, limit_jobs int)
RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_found jsonb;
BEGIN
    SELECT weft._condition_document(c) || jsonb_build_object(
        'jobs', (
            SELECT coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'batch_id', j.batch_id,
                        'job_id', j.job_id,
                        'blocked_at', j.blocked_at,
                        'next_at', j.next_at
                    ) ORDER BY j.next_at,
                    j.batch_id,
                    j.job_id
                ),
                '[]'
            )
            FROM (
                (
                    SELECT x.*
                    FROM weft.blocked_job x
                    WHERE weft._caller_id() IS NULL AND x.condition_id = c.condition_id
                    ORDER BY x.next_at
                    LIMIT limit_jobs
                ) UNION ALL (
                    SELECT x.*
                    FROM weft._shown_waiting(c.condition_id, 10000) x
                    ORDER BY x.next_at
                    LIMIT limit_jobs
                )
            ) j
        )
    )
    INTO v_found
    FROM weft.condition c
    WHERE c.condition_id = of_condition_id AND weft._sees_condition(c.condition_id);
    IF v_found IS NULL THEN
        PERFORM weft._tell_of_condition(of_condition_id, false);
    END IF;
    RETURN v_found;
END $$;
