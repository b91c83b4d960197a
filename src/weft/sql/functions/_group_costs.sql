-- _group_costs: usage and cost by resource of these groups, exact in this statement's snapshot; money is computed here, when read.
-- `folded`: as of the last fold.
-- Called by: the readers of the api; _record_callbacks.   Safe to repeat: yes, it only reads.
-- Plan: sums by key; the deltas that are not folded once.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._group_costs(batch_ids bigint[], group_ids int[], folded boolean DEFAULT false)
RETURNS TABLE (batch_id bigint, group_id int, cost numeric, cost_by_resource jsonb) LANGUAGE sql STABLE
AS $$
    WITH asked AS (SELECT * FROM unnest(_group_costs.batch_ids, _group_costs.group_ids) t (b, g)),
    part AS (
        SELECT u.batch_id, u.group_id, u.rate_card_id, u.shape_id, u.usage_ms
        FROM asked a JOIN weft.group_usage u ON u.batch_id = a.b AND u.group_id = a.g
        UNION ALL
        SELECT d.batch_id, n.ancestor_id, d.rate_card_id, d.shape_id, d.usage_ms
        FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        JOIN weft.group_ancestor n ON n.batch_id = d.batch_id AND n.group_id = d.group_id
        JOIN asked a ON a.b = d.batch_id AND a.g = n.ancestor_id
        WHERE d.rate_card_id IS NOT NULL AND NOT _group_costs.folded),
    sums AS (
        SELECT p.batch_id, p.group_id, r.resource_id, sum(p.usage_ms * r.quantity) AS usage,
               sum(p.usage_ms * r.quantity * coalesce(x.price_per_unit_hour, 0)) / 3600000 AS cost
        FROM (SELECT batch_id, group_id, rate_card_id, shape_id, sum(usage_ms) AS usage_ms FROM part GROUP BY 1, 2, 3, 4) p
        JOIN weft.shape s ON s.shape_id = p.shape_id
        CROSS JOIN LATERAL (VALUES (1::smallint, s.cpu_m), (2::smallint, s.memory_mib), (3::smallint, s.storage_mib), (4::smallint, s.gpu::bigint)) r (resource_id, quantity)
        LEFT JOIN weft.rate x ON x.rate_card_id = p.rate_card_id AND x.resource_id = r.resource_id
        WHERE r.quantity > 0 GROUP BY 1, 2, 3)
    SELECT a.b, a.g, coalesce(sum(s.cost), 0),
           coalesce(jsonb_agg(jsonb_build_object('resource', r.name, 'usage', s.usage, 'unit', r.unit, 'cost', round(s.cost, 12)) ORDER BY r.resource_id)
                    FILTER (WHERE s.resource_id IS NOT NULL), '[]')
    FROM asked a LEFT JOIN sums s ON s.batch_id = a.b AND s.group_id = a.g LEFT JOIN weft.resource r ON r.resource_id = s.resource_id
    GROUP BY a.b, a.g
$$;
