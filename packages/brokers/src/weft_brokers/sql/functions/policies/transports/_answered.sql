-- _answered: the offers that foreign programs answer, with the jobs that wait by them or became of them.
-- Plan: by key.
-- transport, tenant: where the answers were; with the fence of each offer, which only its message says.
-- Returns: a row per offer and fence, each once, in order; NULL but n: there is no such offer (any more).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._answered(
    of_transport text, of_tenant text, offer_ids bigint[], fences uuid[]
) RETURNS TABLE (
    n bigint,
    offer_id bigint,
    batch_id bigint,
    job_id int,
    pool_id int,
    attempt smallint,
    incarnation_id int,
    started_at timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT t.n, o.*
    FROM (
        SELECT DISTINCT ON (u.o, u.f) u.*
        FROM unnest(offer_ids, fences) WITH ORDINALITY u (o, f, n)
        ORDER BY u.o, u.f, u.n
    ) t
    LEFT JOIN LATERAL (
        SELECT x.offer_id, x.batch_id, x.job_id, x.pool_id, x.attempt, j.incarnation_id, j.started_at
        FROM weft.transport_offer x
        JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = x.job_id
        WHERE x.offer_id = t.o
            AND x.fence = t.f
            AND x.transport = of_transport
            AND x.tenant_id = (SELECT y.tenant_id FROM weft.tenant y WHERE y.name = of_tenant)
            AND (
                j.state = STATE_QUEUED AND x.attempt IS NULL
                    OR j.state = STATE_RUNNING AND j.attempt = x.attempt
            )
        OFFSET 0
    ) o ON true
    ORDER BY t.n
$$;
