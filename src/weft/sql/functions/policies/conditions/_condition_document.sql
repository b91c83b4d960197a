-- _condition_document: what is known of a condition; of its jobs those are counted that the caller of this
--   transaction sees, who does not see the tenant, up to 10,000.
-- Plan: its deltas by index, or as _shown_waiting.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._condition_document(c weft.condition) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'condition_id', c.condition_id, 'condition', c.kind, 'tester', c.tester, 'parameters', c.parameters,
        'since', c.since, 'next_test_at', c.next_test_at, 'tested_at', c.tested_at, 'passed', c.passed,
        'message', c.message,
        'n_jobs', CASE
            WHEN c.transport IS NOT NULL THEN weft._shown_queued(c.condition_id)
            WHEN weft._caller_id() IS NULL
                THEN c.n_jobs + (
                    SELECT coalesce(sum(d.n), 0)
                    FROM weft.condition_delta d
                    WHERE d.condition_id = c.condition_id
                )
            ELSE (SELECT count(*) FROM weft._shown_waiting(c.condition_id, 10000))
        END,
        'n_next', CASE WHEN c.transport IS NULL THEN c.allowance ELSE 0 END,
        'failed_by', c.failed_by
    )
$$;
