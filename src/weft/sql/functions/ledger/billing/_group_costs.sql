-- _group_costs: usage and cost of these groups by resource, exact in this statement's snapshot; costs are
--   computed when read.
-- `folded`: as of the last fold.
-- Plan: as _group_counts.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._group_costs(
    batch_ids bigint[], group_ids int[], folded boolean DEFAULT false
) RETURNS TABLE (batch_id bigint, group_id int, cost numeric, cost_by_resource jsonb)
LANGUAGE sql STABLE AS $$
    WITH asked AS (
        SELECT t.b, t.g, min(t.n) AS n
        FROM unnest(_group_costs.batch_ids, _group_costs.group_ids) WITH ORDINALITY t (b, g, n)
        GROUP BY t.b, t.g
    ),
    recent AS (
        SELECT d.batch_id, d.group_id, d.rate_card_id, d.shape_id, sum(d.usage_ms) AS usage_ms
        FROM weft._unfolded() d
        WHERE d.batch_id = ANY (_group_costs.batch_ids)
            AND d.rate_card_id IS NOT NULL
            AND NOT _group_costs.folded
        GROUP BY 1, 2, 3, 4
    ),
    part AS (
        SELECT a.b, a.g, a.n, u.rate_card_id, u.shape_id, u.usage_ms
        FROM asked a
        LEFT JOIN LATERAL (
            SELECT x.* FROM weft.group_usage x WHERE x.batch_id = a.b AND x.group_id = a.g OFFSET 0
        ) u ON true
        UNION ALL
        SELECT r.batch_id, o.ancestor_id, NULL, r.rate_card_id, r.shape_id, r.usage_ms
        FROM recent r
        CROSS JOIN LATERAL (
            SELECT x.ancestor_id
            FROM weft.group_ancestor x
            WHERE x.batch_id = r.batch_id AND x.group_id = r.group_id
            OFFSET 0
        ) o
    ),
    -- A number stands in each row of a group that was asked for, and in no other; so no join can go astray.
    numbered AS (
        SELECT min(p.n) OVER (PARTITION BY p.b, p.g) AS n, p.rate_card_id, p.shape_id, p.usage_ms FROM part p
    ),
    used AS (
        SELECT
            array_agg(p.n) AS ns,
            array_agg(p.rate_card_id) AS cards,
            array_agg(p.shape_id) AS shapes,
            array_agg(p.ms) AS mss
        FROM (
            SELECT x.n, x.rate_card_id, x.shape_id, sum(x.usage_ms) AS ms
            FROM numbered x
            WHERE x.n IS NOT NULL AND x.rate_card_id IS NOT NULL
            GROUP BY 1, 2, 3
        ) p
    ),
    costs AS MATERIALIZED (
        SELECT c.* FROM used u CROSS JOIN LATERAL weft._costs_of_usage(u.ns, u.cards, u.shapes, u.mss) c
    )
    SELECT a.b, a.g, coalesce(c.cost, 0), coalesce(c.cost_by_resource, '[]')
    FROM asked a
    LEFT JOIN costs c ON c.owner = a.n
$$;
