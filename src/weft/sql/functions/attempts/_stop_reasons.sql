-- _stop_reasons: the reasons of ends, in order, where an attempt that its worker reports as cancelled was stopped at its job's deadline.
-- Called by: complete_attempts_v2, for reports with cancelled attempts.   Safe to repeat: yes, it only reads.   Plan: cancels by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stop_reasons(batch_ids bigint[], job_ids int[], reasons smallint[]) RETURNS smallint[]
LANGUAGE sql STABLE
AS $$
    SELECT array_agg(CASE WHEN t.reason = REASON_CANCELLED AND EXISTS (
        SELECT FROM weft.job_cancel c WHERE c.batch_id = t.b AND c.job_id = t.j AND c.late) THEN REASON_DEADLINE ELSE t.reason END
        ORDER BY t.n)
    FROM unnest(_stop_reasons.batch_ids, _stop_reasons.job_ids, _stop_reasons.reasons) WITH ORDINALITY t (b, j, reason, n)
$$;
