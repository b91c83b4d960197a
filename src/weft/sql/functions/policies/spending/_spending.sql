-- _spending: what was used of limits until now, and what the attempts that are claimed use in an hour, in the
--   measure of each. Exact in this statement's snapshot: what runs counts up to now, beyond what heartbeats
--   have reported.
-- Plan: sums by key; the unfolded deltas once; as _live_attempts of the workers that have claimed limited
--   jobs; batches and ancestors by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._spending(of_limit_ids int[], at timestamptz)
RETURNS TABLE (limit_id int, used numeric, used_per_hour numeric) LANGUAGE sql STABLE AS $$
    WITH limited AS MATERIALIZED (SELECT l.* FROM weft.spend_limit l WHERE l.limit_id = ANY (of_limit_ids)),
    claimer AS MATERIALIZED (
        SELECT DISTINCT c.incarnation_id
        FROM weft.claim c
        CROSS JOIN LATERAL (
            SELECT x.project_id, x.user_id FROM weft.batch x WHERE x.batch_id = c.batch_id OFFSET 0
        ) b
        WHERE b.project_id IN (SELECT l.project_id FROM limited l)
            OR b.user_id IN (SELECT l.user_id FROM limited l)
            OR c.batch_id IN (SELECT l.batch_id FROM limited l)
    ),
    -- What the sums do not hold yet: deltas that are not folded, and what runs; `n` attempts of that.
    late AS MATERIALIZED (
        SELECT
            d.batch_id, d.group_id, d.rate_card_id, d.shape_id, sum(d.usage_ms)::numeric AS ms, 0::bigint AS n
        FROM weft._unfolded() d
        WHERE d.rate_card_id IS NOT NULL
        GROUP BY 1, 2, 3, 4
        UNION ALL
        SELECT
            j.batch_id,
            j.group_id,
            j.rate_card_id,
            j.shape_id,
            coalesce(sum(greatest(weft._ms_between(j.started_at, _spending.at) - j.billed_ms, 0)), 0),
            count(*)
        FROM claimer c
        CROSS JOIN LATERAL weft._live_attempts(c.incarnation_id) j
        GROUP BY 1, 2, 3, 4
    ),
    owned AS MATERIALIZED (
        SELECT t.*, b.project_id, b.user_id
        FROM late t
        CROSS JOIN LATERAL (
            SELECT x.project_id, x.user_id FROM weft.batch x WHERE x.batch_id = t.batch_id OFFSET 0
        ) b
    ),
    use AS (
        SELECT
            l.limit_id, u.rate_card_id AS card, u.shape_id AS shape, u.usage_ms::numeric AS ms, 0::bigint AS n
        FROM limited l
        JOIN weft.project_usage u ON u.project_id = l.project_id
        UNION ALL
        SELECT l.limit_id, u.rate_card_id, u.shape_id, u.usage_ms, 0
        FROM limited l
        JOIN weft.user_usage u ON u.user_id = l.user_id
        UNION ALL
        SELECT l.limit_id, u.rate_card_id, u.shape_id, u.usage_ms, 0
        FROM limited l
        JOIN weft.group_usage u ON u.batch_id = l.batch_id AND u.group_id = l.group_id
        UNION ALL
        SELECT l.limit_id, o.rate_card_id, o.shape_id, o.ms, o.n
        FROM limited l
        JOIN owned o ON o.project_id = l.project_id
        UNION ALL
        SELECT l.limit_id, o.rate_card_id, o.shape_id, o.ms, o.n
        FROM limited l
        JOIN owned o ON o.user_id = l.user_id
        UNION ALL
        SELECT l.limit_id, o.rate_card_id, o.shape_id, o.ms, o.n
        FROM limited l
        JOIN owned o ON o.batch_id = l.batch_id
        JOIN weft.group_ancestor a ON a.batch_id = o.batch_id
            AND a.group_id = o.group_id
            AND a.ancestor_id = l.group_id
    ),
    -- An even number stands for what was used, the next one for an hour of what runs.
    part AS (
        SELECT 2 * u.limit_id::bigint AS owner, u.card, u.shape, sum(u.ms) AS ms
        FROM use u
        GROUP BY 1, 2, 3
        UNION ALL
        SELECT 2 * u.limit_id::bigint + 1, u.card, u.shape, sum(u.n) * 3600000
        FROM use u
        WHERE u.n > 0
        GROUP BY 1, 2, 3
    ),
    listed AS (
        SELECT
            array_agg(p.owner) AS owners,
            array_agg(p.card) AS cards,
            array_agg(p.shape) AS shapes,
            array_agg(p.ms) AS mss
        FROM part p
    ),
    amount AS MATERIALIZED (
        SELECT
            x.owner,
            sum(
                CASE
                    WHEN l.measure = 'cost' THEN x.price_ms / 3600000
                    WHEN l.measure = r.name
                        THEN x.usage / 3600000
                            / CASE r.name WHEN 'cpu' THEN 1000 WHEN 'gpu' THEN 1 ELSE 1024 END
                END
            ) AS sum
        FROM listed i
        CROSS JOIN LATERAL weft._priced_usage(i.owners, i.cards, i.shapes, i.mss) x
        JOIN weft.resource r
        USING (resource_id)
        JOIN limited l ON l.limit_id = x.owner / 2
        GROUP BY x.owner
    )
    SELECT l.limit_id, coalesce(s.sum, 0), coalesce(h.sum, 0)
    FROM limited l
    LEFT JOIN amount s ON s.owner = 2 * l.limit_id::bigint
    LEFT JOIN amount h ON h.owner = 2 * l.limit_id::bigint + 1
$$;
