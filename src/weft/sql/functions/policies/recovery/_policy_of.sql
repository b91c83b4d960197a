-- _policy_of: by which policy a job waits before it is tried again.
-- Plan: labels and arrays by key.
-- External errors follow it, too, and are given up after 48 hours where it names no other time. Without one:
--   two tries after 10 s, ten after 20 s, ten after 60 s, a hundred after 120 s, then one every 300 s, and
--   after 48 hours none.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._policy_of(
    of_batch_id bigint, of_job_id int, of_spec_first int, of_reason smallint
) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN of_reason = REASON_BLOCKED
            THEN '{"give_up_s": 172800}'::jsonb || coalesce(
                own.policy,
                '{"policy": "stepwise", "jitter": 0, "steps": [{"tries": 2, "wait_s": 10}, {"tries": 10, "wait_s": 20},
            {"tries": 10, "wait_s": 60}, {"tries": 100, "wait_s": 120}, {"wait_s": 300}]}'::jsonb
            )
        ELSE own.policy
    END
    FROM (SELECT weft._rare_field(of_batch_id, of_job_id, of_spec_first, 'retry') AS policy) own
$$;
