-- _report_by_attribute: what billing projects used in a period by the value of an attribute of batches.
-- Plan: batches that used something in the period, at most rows_max sums of them; sums of the
--   projects by key; the unfolded deltas.
-- Raises WF133 (too many batches).
-- Returns: a number for each value in order, then one for batches without one, then 2147483647 for what no
--   batch has: batches were removed, or it was used before these sums were kept.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._report_by_attribute(
    of_tenant_id int, of_project_ids int[], attribute text, since date, until date, rows_max int
) RETURNS TABLE (parts weft.cost_part[], names text[]) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM weft.batch_usage u
        WHERE u.project_id = ANY (of_project_ids) AND u.usage_on BETWEEN since AND until
        OFFSET rows_max
    ) THEN
        PERFORM weft._fail(
            'WF133',
            'the report covers too many batches',
            format('By attribute it would read more than %s sums of batches.', rows_max),
            'Ask for one project or a shorter period; reports by project, user, day or resource have no such limit.'
        );
    END IF;
    RETURN QUERY
    WITH recent AS MATERIALIZED (SELECT r.* FROM weft._recent_sums(of_project_ids, since, until) r),
    whole AS (
        SELECT s.rate_card_id, s.cpu, s.memory, s.storage, s.gpu
        FROM unnest(of_project_ids) p
        JOIN weft.usage_sum s ON s.tenant_id = of_tenant_id
            AND s.project_id = p
            AND s.user_id = 0
            AND s.usage_on BETWEEN since AND until
        UNION ALL
        SELECT r.rate_card_id, r.cpu, r.memory, r.storage, r.gpu
        FROM recent r
    ),
    known AS MATERIALIZED (
        SELECT
            b.attributes ->> attribute AS name,
            u.rate_card_id,
            sum(u.cpu) AS cpu,
            sum(u.memory) AS memory,
            sum(u.storage) AS storage,
            sum(u.gpu) AS gpu
        FROM (
            SELECT
                x.batch_id,
                x.rate_card_id,
                x.usage_ms::numeric * h.cpu_m AS cpu,
                x.usage_ms::numeric * h.memory_mib AS memory,
                x.usage_ms::numeric * h.storage_mib AS storage,
                x.usage_ms::numeric * h.gpu AS gpu
            FROM weft.batch_usage x
            JOIN weft.shape h
            USING (shape_id)
            WHERE x.project_id = ANY (of_project_ids) AND x.usage_on BETWEEN since AND until
            UNION ALL
            SELECT r.batch_id, r.rate_card_id, r.cpu, r.memory, r.storage, r.gpu
            FROM recent r
        ) u
        JOIN weft.batch b
        USING (batch_id)
        GROUP BY 1, 2
    ),
    listed AS (
        SELECT k.name, row_number() OVER (ORDER BY k.name NULLS LAST) AS owner
        FROM (SELECT DISTINCT x.name FROM known x) k
    ),
    part AS (
        SELECT l.owner, k.rate_card_id, k.cpu, k.memory, k.storage, k.gpu
        FROM known k
        JOIN listed l ON l.name IS NOT DISTINCT FROM k.name
        UNION ALL
        SELECT 2147483647, y.rate_card_id, sum(y.cpu), sum(y.memory), sum(y.storage), sum(y.gpu)
        FROM (
            SELECT w.*
            FROM whole w
            UNION ALL
            SELECT k.rate_card_id, -k.cpu, -k.memory, -k.storage, -k.gpu
            FROM known k
        ) y
        GROUP BY 2
    )
    SELECT
        (SELECT array_agg(ROW(p.*)::weft.cost_part) FROM part p),
        (SELECT array_agg(l.name ORDER BY l.owner) FROM listed l);
END $$;
