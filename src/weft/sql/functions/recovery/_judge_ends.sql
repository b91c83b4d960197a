-- _judge_ends: what exits mean: 75 (EX_TEMPFAIL) is an external error, after which the job waits; and where a policy gives up, the end is
--   final.
-- Called by: complete_attempts_v2, only for sets in which a job failed.   Safe to repeat: yes, it only reads.
-- Plan: jobs by key, those that failed; as _next_wait, where the job waits before it is tried again.
-- Returns: the reasons, and whether no other attempt may follow, in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._judge_ends(batch_ids bigint[], job_ids int[], reported smallint[], exit_codes int[], at timestamptz,
    OUT reasons smallint[], OUT finals boolean[]) LANGUAGE sql STABLE
AS $$
    SELECT array_agg(t.reason ORDER BY t.n), array_agg(w.is_final ORDER BY t.n)
    FROM (
        SELECT x.b, x.j, x.n,
            CASE WHEN x.reason = REASON_EXIT AND x.exit_code = 75 THEN REASON_BLOCKED ELSE x.reason END::smallint AS reason
        FROM unnest(batch_ids, job_ids, reported, exit_codes) WITH ORDINALITY x (b, j, reason, exit_code, n)) t
    LEFT JOIN LATERAL (
        SELECT weft._next_wait(j.batch_id, j.job_id, j.spec_first, j.attempt, t.reason, j.attempt - j.n_uncounted, _judge_ends.at) IS NULL
            AS is_final
        FROM weft.job j
        WHERE j.batch_id = t.b AND j.job_id = t.j AND (t.reason = REASON_BLOCKED
            OR t.reason NOT IN (REASON_CANCELLED, REASON_LOST, REASON_PREEMPTED) AND j.retry_on & 1 = 1)
        OFFSET 0) w ON true
$$;
