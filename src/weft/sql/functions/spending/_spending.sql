-- _spending: what billing projects have spent until now, and what the attempts that are claimed cost in an hour. Exact in this statement's
--   snapshot: what runs counts up to now, beyond what heartbeats have reported.
-- Called by: limit_rounds, _project_forecasts.   Safe to repeat: yes, it only reads.
-- Plan: as _project_usage; as _live_attempts of the workers that have claimed jobs of these projects; batches by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._spending(of_project_ids int[], at timestamptz)
RETURNS TABLE (project_id int, spent numeric, cost_per_hour numeric) LANGUAGE sql STABLE
AS $$
    WITH claimer AS MATERIALIZED (
        SELECT DISTINCT c.incarnation_id FROM weft.claim c
        CROSS JOIN LATERAL (SELECT x.project_id FROM weft.batch x WHERE x.batch_id = c.batch_id OFFSET 0) b
        WHERE b.project_id = ANY (of_project_ids)),
    live AS MATERIALIZED (
        SELECT b.project_id, j.rate_card_id, j.shape_id, count(*) AS n,
            coalesce(sum(greatest(weft._ms_between(j.started_at, _spending.at) - j.billed_ms, 0)), 0) AS ms
        FROM claimer c CROSS JOIN LATERAL weft._live_attempts(c.incarnation_id) j
        CROSS JOIN LATERAL (SELECT x.project_id FROM weft.batch x WHERE x.batch_id = j.batch_id OFFSET 0) b
        WHERE b.project_id = ANY (of_project_ids) GROUP BY 1, 2, 3),
    -- An even number stands for what a project has spent, the next one for an hour of what runs.
    part AS (
        SELECT 2 * u.project_id::bigint AS owner, u.rate_card_id AS card, u.shape_id AS shape, sum(u.usage_ms) AS ms
        FROM weft._project_usage(of_project_ids) u GROUP BY 1, 2, 3
        UNION ALL SELECT 2 * l.project_id::bigint, l.rate_card_id, l.shape_id, l.ms FROM live l
        UNION ALL SELECT 2 * l.project_id::bigint + 1, l.rate_card_id, l.shape_id, l.n * 3600000 FROM live l),
    used AS (
        SELECT array_agg(p.owner) AS owners, array_agg(p.card) AS cards, array_agg(p.shape) AS shapes, array_agg(p.ms) AS mss FROM part p),
    costs AS MATERIALIZED (SELECT c.* FROM used u CROSS JOIN LATERAL weft._costs_of_usage(u.owners, u.cards, u.shapes, u.mss) c)
    SELECT p, coalesce(s.cost, 0), coalesce(h.cost, 0) FROM unnest(of_project_ids) p
    LEFT JOIN costs s ON s.owner = 2 * p::bigint LEFT JOIN costs h ON h.owner = 2 * p::bigint + 1
$$;
