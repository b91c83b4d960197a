-- _project_usage: usage of billing projects by date, rate card and shape; exact in this statement's snapshot.
-- Plan: sums by key; the unfolded deltas once.   Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._project_usage(of_project_ids int[])
RETURNS TABLE (project_id int, usage_on date, rate_card_id smallint, shape_id int, usage_ms bigint) LANGUAGE sql STABLE AS $$
    SELECT u.project_id, u.usage_on, u.rate_card_id, u.shape_id, u.usage_ms
    FROM unnest(of_project_ids) p JOIN weft.project_usage u ON u.project_id = p
    UNION ALL
    SELECT r.project_id, r.usage_on, r.rate_card_id, r.shape_id, r.usage_ms
    FROM weft._recent_usage() r WHERE r.project_id = ANY (of_project_ids)
$$;
