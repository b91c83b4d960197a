-- _next_wait: how long a job waits after an attempt that ended for this reason.
-- For: _judge_ends, before the attempt is recorded; _block_jobs, afterwards.
-- Plan: as _policy_of; as _past_tries.
-- counted: attempts that count, this one included. External errors are counted by _past_tries; those before
--   an attempt that ran for longer than `forgets_s` of the policy, which services have, are forgotten.
-- The jitter is drawn from the number of the job and of the try, so that a repeated call gets the same one.
-- Returns: seconds; NULL: it is given up.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._next_wait(
    of_batch_id bigint,
    of_job_id int,
    of_spec_first int,
    of_attempt smallint,
    of_reason smallint,
    counted int,
    at timestamptz
) RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT weft._retry_wait(
        policy.body,
        CASE WHEN of_reason = REASON_BLOCKED THEN least(past.n, recent.n) + 1 ELSE counted END,
        coalesce(extract(epoch FROM _next_wait.at - past.since), 0)::float8,
        (hashint8extended(of_batch_id # ((of_job_id::bigint << 16) | of_attempt), 0) & 65535)
            / 65536.0::float8
    )
    FROM weft._past_tries(of_batch_id, of_job_id, of_attempt, of_reason) past
    CROSS JOIN LATERAL (
        SELECT weft._policy_of(of_batch_id, of_job_id, of_spec_first, of_reason) AS body OFFSET 0
    ) policy
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN policy.body ? 'forgets_s'
                THEN (
                    SELECT count(*)
                    FROM weft.attempt a
                    WHERE a.batch_id = of_batch_id
                        AND a.job_id = of_job_id
                        AND a.attempt < of_attempt
                        AND a.reason = REASON_BLOCKED
                        AND a.attempt >= coalesce(
                            (
                                SELECT max(o.attempt)
                                FROM weft.attempt o
                                WHERE o.batch_id = of_batch_id
                                    AND o.job_id = of_job_id
                                    AND o.attempt <= of_attempt
                                    AND o.ended_at - o.started_at > interval '1 s'
                                        * (policy.body ->> 'forgets_s')::float8
                            ),
                            0
                        )
                )
        END AS n
    ) recent
$$;
