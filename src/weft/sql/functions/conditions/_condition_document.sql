-- _condition_document: what is known of a condition.
-- Called by: list_conditions, get_condition.   Safe to repeat: yes, it only reads.   Plan: its deltas by index.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._condition_document(c weft.condition) RETURNS jsonb LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object('condition_id', c.condition_id, 'condition', c.kind, 'tester', c.tester, 'parameters', c.parameters,
        'since', c.since, 'next_test_at', c.next_test_at, 'tested_at', c.tested_at, 'passed', c.passed, 'message', c.message,
        'n_jobs', c.n_jobs + (SELECT coalesce(sum(d.n), 0) FROM weft.condition_delta d WHERE d.condition_id = c.condition_id),
        'n_next', c.allowance, 'failed_by', c.failed_by)
$$;
