-- _next_wait: how long a job waits after an attempt that ended for this reason.
-- Called by: _judge_ends, before the attempt is recorded; _block_jobs, afterwards; postpone_conditions, for the attempt to come.
-- Safe to repeat: yes, it only reads.
-- Plan: as _policy_of; the attempts of the job by key.
-- counted: attempts that count, this one included. External errors are counted since the last end of another kind.
-- n_tests: those that did not pass; each is a step, too.
-- Attempts before a retry by a person are not counted.
-- The jitter is drawn from the number of the job and of the try, so that a repeated call gets the same one.
-- Returns: seconds; NULL: it is given up.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._next_wait(of_batch_id bigint, of_job_id int, of_spec_first int, of_attempt smallint, of_reason smallint,
    counted int, at timestamptz, n_tests int DEFAULT 0) RETURNS double precision LANGUAGE sql STABLE
AS $$
    SELECT weft._retry_wait(weft._policy_of(of_batch_id, of_job_id, of_spec_first, of_reason),
        CASE WHEN of_reason = REASON_BLOCKED THEN past.n + 1 + n_tests ELSE counted END,
        coalesce(extract(epoch FROM _next_wait.at - past.since), 0)::float8,
        (hashint8extended(of_batch_id # ((of_job_id::bigint << 16) | of_attempt), 0) & 65535) / 65536.0::float8)
    FROM (
        SELECT count(*) AS n, min(a.ended_at) AS since FROM weft.attempt a
        WHERE a.batch_id = of_batch_id AND a.job_id = of_job_id AND a.attempt < of_attempt
            AND a.attempt > coalesce((SELECT max(c.attempt) FROM weft.job_change c WHERE c.batch_id = of_batch_id
                AND c.job_id = of_job_id AND c.subtype = 'retried'), 0)
            AND a.reason NOT IN (REASON_LOST, REASON_PREEMPTED, REASON_OVERDUE)
            AND (a.reason = REASON_BLOCKED) = (of_reason = REASON_BLOCKED)
            AND (of_reason <> REASON_BLOCKED OR a.attempt > coalesce((
                SELECT max(o.attempt) FROM weft.attempt o WHERE o.batch_id = of_batch_id AND o.job_id = of_job_id
                    AND o.attempt < of_attempt
                    AND o.reason NOT IN (REASON_BLOCKED, REASON_LOST, REASON_PREEMPTED, REASON_OVERDUE)), 0))) past
$$;
