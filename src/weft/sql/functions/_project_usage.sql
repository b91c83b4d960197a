-- _project_usage: what billing projects have used by date, rate card and shape, exact in this statement's snapshot.
-- Called by: list_projects, list_project_days.   Safe to repeat: yes, it only reads.
-- Plan: sums by key; the deltas that are not folded once.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._project_usage(of_project_ids int[])
RETURNS TABLE (project_id int, usage_on date, rate_card_id smallint, shape_id int, usage_ms bigint) LANGUAGE sql STABLE
AS $$
    SELECT u.project_id, u.usage_on, u.rate_card_id, u.shape_id, u.usage_ms
    FROM unnest(of_project_ids) p JOIN weft.project_usage u ON u.project_id = p
    UNION ALL
    SELECT b.project_id, d.usage_on, d.rate_card_id, d.shape_id, d.usage_ms
    FROM weft.fold f
    JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
    JOIN weft.batch b ON b.batch_id = d.batch_id
    WHERE d.rate_card_id IS NOT NULL AND b.project_id = ANY (of_project_ids)
$$;
