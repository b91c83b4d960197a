-- _group_costs: usage and cost by resource of these groups, exact in this statement's snapshot; money is computed here, when read.
-- `folded`: as of the last fold.
-- Called by: the readers of the api; _record_callbacks.   Safe to repeat: yes, it only reads.
-- Plan: sums by key; the deltas that are not folded once.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._group_costs(batch_ids bigint[], group_ids int[], folded boolean DEFAULT false)
RETURNS TABLE (batch_id bigint, group_id int, cost numeric, cost_by_resource jsonb) LANGUAGE sql STABLE
AS $$
    WITH asked AS (
        SELECT t.b, t.g, min(t.n) AS n FROM unnest(_group_costs.batch_ids, _group_costs.group_ids) WITH ORDINALITY t (b, g, n) GROUP BY t.b, t.g),
    part AS (
        SELECT a.n, u.rate_card_id, u.shape_id, u.usage_ms
        FROM asked a JOIN weft.group_usage u ON u.batch_id = a.b AND u.group_id = a.g
        UNION ALL
        SELECT a.n, d.rate_card_id, d.shape_id, d.usage_ms
        FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        JOIN weft.group_ancestor n ON n.batch_id = d.batch_id AND n.group_id = d.group_id
        JOIN asked a ON a.b = d.batch_id AND a.g = n.ancestor_id
        WHERE d.rate_card_id IS NOT NULL AND NOT _group_costs.folded),
    used AS (
        SELECT array_agg(p.n) AS ns, array_agg(p.rate_card_id) AS cards, array_agg(p.shape_id) AS shapes, array_agg(p.ms) AS mss
        FROM (SELECT n, rate_card_id, shape_id, sum(usage_ms) AS ms FROM part GROUP BY 1, 2, 3) p),
    costs AS (SELECT c.* FROM used u CROSS JOIN LATERAL weft._costs_of_usage(u.ns, u.cards, u.shapes, u.mss) c)
    SELECT a.b, a.g, coalesce(c.cost, 0), coalesce(c.cost_by_resource, '[]') FROM asked a LEFT JOIN costs c ON c.owner = a.n
$$;
