-- _priced_jobs: what jobs of a batch have used, of all their attempts, the live ones included, and its price
--   as _priced_usage has it: in all, and by resource (NULL: they ask for none).
-- Plan: by key. Without jobs no statement begins: to start one costs more than the call.
-- Returns: one row per job of which an attempt has started.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._priced_jobs(of_batch_id bigint, of_job_ids int[]) RETURNS TABLE (
    job_id int,
    price_ms numeric,
    cpu_usage bigint,
    of_cpu numeric,
    of_memory numeric,
    of_storage numeric,
    of_gpu numeric
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF of_job_ids = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        p.owner::int,
        sum(p.price_ms),
        sum(p.usage) FILTER (WHERE p.resource_id = 1)::bigint,
        sum(p.price_ms) FILTER (WHERE p.resource_id = 1),
        sum(p.price_ms) FILTER (WHERE p.resource_id = 2),
        sum(p.price_ms) FILTER (WHERE p.resource_id = 3),
        sum(p.price_ms) FILTER (WHERE p.resource_id = 4)
    FROM (
        SELECT
            array_agg(x.job_id::bigint) AS owners,
            array_agg(x.rate_card_id) AS cards,
            array_agg(x.shape_id) AS shapes,
            array_agg(x.ms::numeric) AS mss
        FROM (
            SELECT a.job_id, a.rate_card_id, a.shape_id, weft._ms_between(a.started_at, a.ended_at) AS ms
            FROM weft.attempt a
            WHERE a.batch_id = of_batch_id AND a.job_id = ANY (of_job_ids) AND a.started_at IS NOT NULL
            UNION ALL
            SELECT j.job_id, j.rate_card_id, j.shape_id, weft._ms_between(j.started_at, clock_timestamp())
            FROM weft.job j
            WHERE j.batch_id = of_batch_id
                AND j.job_id = ANY (of_job_ids)
                AND j.state = STATE_RUNNING
                AND j.started_at IS NOT NULL
        ) x
    ) u
    CROSS JOIN LATERAL weft._priced_usage(u.owners, u.cards, u.shapes, u.mss) p
    GROUP BY p.owner;
END $$;
