-- _report_parts: what billing projects used in a period of dates, by project, user, day, or the value of an attribute of batches.
-- Called by: billing_report.   Safe to repeat: yes, it only reads.
-- Plan: sums by key; the unfolded deltas; for an attribute the batches that used something in the period.
-- by: project, user, day, attribute; any other word: all in one.
-- Returns: is_known false: what no user or batch has. Batches were removed, or it was used before these sums were kept.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._report_parts(of_project_ids int[], by text, attribute text, since date, until date)
RETURNS TABLE (name text, is_known boolean, rate_card_id smallint, shape_id int, ms numeric) LANGUAGE sql STABLE
AS $$
    WITH whole AS MATERIALIZED (
        SELECT x.project_id, x.usage_on, x.rate_card_id, x.shape_id, sum(x.usage_ms) AS ms FROM weft._project_usage(of_project_ids) x
        WHERE x.usage_on BETWEEN _report_parts.since AND _report_parts.until GROUP BY 1, 2, 3, 4),
    recent AS MATERIALIZED (
        SELECT r.* FROM weft._recent_usage() r WHERE _report_parts.by IN ('user', 'attribute') AND r.project_id = ANY (of_project_ids)
            AND r.usage_on BETWEEN _report_parts.since AND _report_parts.until),
    known AS MATERIALIZED (
        SELECT k.name, k.rate_card_id, k.shape_id, sum(k.usage_ms) AS ms FROM (
            SELECT n.name, u.rate_card_id, u.shape_id, u.usage_ms
            FROM (SELECT x.user_id, x.rate_card_id, x.shape_id, x.usage_ms FROM weft.user_usage x
                  WHERE x.project_id = ANY (of_project_ids) AND x.usage_on BETWEEN _report_parts.since AND _report_parts.until
                  UNION ALL SELECT r.user_id, r.rate_card_id, r.shape_id, r.usage_ms FROM recent r) u
            JOIN weft.tenant_user n USING (user_id) WHERE _report_parts.by = 'user'
            UNION ALL
            SELECT b.attributes ->> _report_parts.attribute, u.rate_card_id, u.shape_id, u.usage_ms
            FROM (SELECT x.batch_id, x.rate_card_id, x.shape_id, x.usage_ms FROM weft.batch_usage x
                  WHERE x.project_id = ANY (of_project_ids) AND x.usage_on BETWEEN _report_parts.since AND _report_parts.until
                  UNION ALL SELECT r.batch_id, r.rate_card_id, r.shape_id, r.usage_ms FROM recent r) u
            JOIN weft.batch b USING (batch_id) WHERE _report_parts.by = 'attribute') k
        GROUP BY 1, 2, 3)
    SELECT k.name, true, k.rate_card_id, k.shape_id, k.ms FROM known k
    UNION ALL
    SELECT NULL, false, w.rate_card_id, w.shape_id, w.ms - coalesce(k.ms, 0)
    FROM (SELECT x.rate_card_id, x.shape_id, sum(x.ms) AS ms FROM whole x GROUP BY 1, 2) w
    LEFT JOIN (SELECT x.rate_card_id, x.shape_id, sum(x.ms) AS ms FROM known x GROUP BY 1, 2) k USING (rate_card_id, shape_id)
    WHERE _report_parts.by IN ('user', 'attribute') AND w.ms <> coalesce(k.ms, 0)
    UNION ALL
    SELECT CASE _report_parts.by WHEN 'project' THEN p.name WHEN 'day' THEN w.usage_on::text END, true, w.rate_card_id, w.shape_id, w.ms
    FROM whole w JOIN weft.billing_project p USING (project_id) WHERE _report_parts.by NOT IN ('user', 'attribute') AND w.ms <> 0
$$;
