-- _causes: for which causes jobs of a batch failed, and how many: sums and what is not folded yet.
-- Plan: inlined; the causes of the batch by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._causes(of_batch_id bigint) RETURNS TABLE (
    batch_id bigint,
    cause_id bigint,
    reason smallint,
    exit_code int,
    signal smallint,
    message text,
    n_jobs bigint,
    n_acknowledged bigint,
    failed_at timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT
        x.batch_id, x.cause_id, max(x.reason), max(x.exit_code), max(x.signal), max(x.message),
        sum(x.n_jobs)::bigint, sum(x.n_acknowledged)::bigint, max(x.failed_at)
    FROM (
        SELECT
            c.batch_id, c.cause_id, c.reason, c.exit_code, c.signal, c.message, c.n_jobs, c.n_acknowledged,
            c.failed_at
        FROM weft.failure_cause c
        WHERE c.batch_id = of_batch_id
        UNION ALL
        SELECT
            d.batch_id, d.cause_id, d.reason, d.exit_code, d.signal, d.message, d.n_jobs, d.n_acknowledged,
            d.failed_at
        FROM weft.failure_delta d
        WHERE d.batch_id = of_batch_id
    ) x
    GROUP BY 1, 2
    HAVING sum(x.n_jobs) > 0
$$;
