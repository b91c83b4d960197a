-- _more_steps: how far each rule of a job's `retry_with` has come: how many of its attempts ended as the rule
--   says, by its `after`.
-- Plan: the attempts of the job by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._more_steps(rules jsonb, of_batch_id bigint, of_job_id int, last_attempt int)
RETURNS int[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(
        least(x.n / (r.rule ->> 'after')::int, jsonb_array_length(r.rule -> 'values') - 1)::int ORDER BY
            r.place
    )
    FROM jsonb_array_elements(rules) WITH ORDINALITY r (rule, place)
    CROSS JOIN LATERAL (
        SELECT count(*) AS n
        FROM weft.attempt a
        WHERE a.batch_id = of_batch_id
            AND a.job_id = of_job_id
            AND a.attempt <= last_attempt
            AND a.started_at IS NOT NULL
            AND (
                r.rule -> 'reasons' @> to_jsonb(a.reason)
                    OR a.reason = REASON_EXIT
                        AND r.rule ? 'exits'
                        AND weft._is_within(r.rule -> 'exits', a.exit_code)
                    OR a.reason = REASON_SIGNAL AND r.rule -> 'signals' @> to_jsonb(a.signal)
            )
    ) x
$$;
