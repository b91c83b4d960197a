-- list_time_limits: the time limits of attempts whose jobs have a rule for them in `retry_with`; those of
--   others are in their specs.
-- Plan: jobs, rules and attempts by key.
-- Returns: one row per attempt with such a rule, in no fixed order.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_time_limits(batch_ids bigint[], job_ids int[], attempts smallint[])
RETURNS TABLE (batch_id bigint, job_id int, attempt smallint, limit_ms bigint) LANGUAGE sql STABLE AS $$
    SELECT t.b, t.j, t.a, x.limit_ms
    FROM unnest(list_time_limits.batch_ids, list_time_limits.job_ids, list_time_limits.attempts) t (b, j, a)
    CROSS JOIN LATERAL (
        SELECT y.retry_on, y.spec_first FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0
    ) j
    CROSS JOIN LATERAL (
        SELECT weft._rare_field(t.b, t.j, j.spec_first, 'more') AS rules
        WHERE j.retry_on & 2097152 <> 0
        OFFSET 0
    ) r
    CROSS JOIN LATERAL (
        SELECT weft._more_time(r.rules, weft._more_steps(r.rules, t.b, t.j, t.a - 1)) AS limit_ms OFFSET 0
    ) x
    WHERE x.limit_ms IS NOT NULL
$$;
