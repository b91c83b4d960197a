-- _project_usage: usage of billing projects by date, rate card and shape; exact in this statement's snapshot.
-- Called by: list_projects, list_project_days, _costs_under_rates, _spending.   Safe to repeat: yes, it only reads.
-- Plan: sums by key; the unfolded deltas once.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._project_usage(of_project_ids int[])
RETURNS TABLE (project_id int, usage_on date, rate_card_id smallint, shape_id int, usage_ms bigint) LANGUAGE sql STABLE
AS $$
    SELECT u.project_id, u.usage_on, u.rate_card_id, u.shape_id, u.usage_ms
    FROM unnest(of_project_ids) p JOIN weft.project_usage u ON u.project_id = p
    UNION ALL
    SELECT b.project_id, r.usage_on, r.rate_card_id, r.shape_id, r.usage_ms
    FROM (
        SELECT d.batch_id, d.usage_on, d.rate_card_id, d.shape_id, sum(d.usage_ms)::bigint AS usage_ms
        FROM weft.fold f
        CROSS JOIN LATERAL (
            SELECT x.* FROM weft.job_delta x
            WHERE x.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(x.xid, f.upto) AND x.rate_card_id IS NOT NULL OFFSET 0) d
        GROUP BY 1, 2, 3, 4) r
    CROSS JOIN LATERAL (SELECT x.project_id FROM weft.batch x WHERE x.batch_id = r.batch_id OFFSET 0) b
    WHERE b.project_id = ANY (of_project_ids)
$$;
