-- _stop_reasons: the reasons of ends, in order, where an attempt that its worker reports as cancelled was stopped at its job's deadline, or
--   preempted. A preempted job that was cancelled as well ends where it is made ready.
-- For: _before_ends, for reports with cancelled attempts.   Plan: cancels and preemptions by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stop_reasons(batch_ids bigint[], job_ids int[], attempts smallint[], reasons smallint[]) RETURNS smallint[]
LANGUAGE sql STABLE AS $$
    SELECT array_agg(CASE
        WHEN t.reason IS DISTINCT FROM REASON_CANCELLED THEN t.reason
        WHEN EXISTS (SELECT FROM weft.job_cancel c WHERE c.batch_id = t.b AND c.job_id = t.j AND c.late) THEN REASON_DEADLINE
        WHEN EXISTS (SELECT FROM weft.preemption p WHERE p.batch_id = t.b AND p.job_id = t.j AND p.attempt = t.a) THEN REASON_PREEMPTED
        ELSE t.reason END ORDER BY t.n)
    FROM unnest(_stop_reasons.batch_ids, _stop_reasons.job_ids, _stop_reasons.attempts, _stop_reasons.reasons)
        WITH ORDINALITY t (b, j, a, reason, n)
$$;
