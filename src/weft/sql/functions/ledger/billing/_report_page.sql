-- _report_page: what billing projects used in a period, by project, user or day; any other word: all in one.
--   Owners after a number, at most limit_rows of them (NULL: all), in order.
-- Plan: as _report_owners, five times as many as are shown; their sums by key; the unfolded deltas.
-- Returns: next_owner: after which the next page begins; NULL: this is the last one.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._report_page(
    of_tenant_id int, of_project_ids int[], by text, since date, until date, after bigint, limit_rows int
) RETURNS TABLE (parts weft.cost_part[], next_owner bigint) LANGUAGE sql STABLE AS $$
    WITH recent AS MATERIALIZED (
        SELECT
            CASE _report_page.by
                WHEN 'project' THEN r.project_id
                WHEN 'user' THEN r.user_id
                WHEN 'day' THEN r.usage_on - date '2000-01-01'
                ELSE 0
            END::bigint AS owner,
            r.*
        FROM weft._recent_sums(of_project_ids, _report_page.since, _report_page.until) r
    ),
    looked_at AS MATERIALIZED (
        SELECT o.*
        FROM weft._report_owners(
            of_tenant_id,
            of_project_ids,
            _report_page.by,
            _report_page.since,
            _report_page.until,
            after,
            5 * limit_rows
        ) o
    ),
    upto AS (SELECT CASE WHEN count(*) = 5 * limit_rows THEN max(l.owner) END AS owner FROM looked_at l),
    asked AS MATERIALIZED (
        SELECT x.owner
        FROM (
            SELECT l.owner
            FROM looked_at l
            WHERE l.has_used
            UNION
            SELECT r.owner
            FROM recent r
            CROSS JOIN upto u
            WHERE (after IS NULL OR r.owner > after) AND (u.owner IS NULL OR r.owner <= u.owner)
        ) x
        ORDER BY 1
        LIMIT limit_rows
    ),
    part AS (
        SELECT a.owner, s.rate_card_id, s.cpu, s.memory, s.storage, s.gpu
        FROM asked a
        CROSS JOIN LATERAL unnest(
            CASE WHEN _report_page.by = 'project' THEN ARRAY[a.owner::int] ELSE of_project_ids END
        ) p
        CROSS JOIN LATERAL (
            SELECT x.*
            FROM weft.usage_sum x
            WHERE x.tenant_id = of_tenant_id
                AND x.project_id = p
                AND x.user_id = CASE WHEN _report_page.by = 'user' THEN a.owner ELSE 0 END
                AND x.usage_on BETWEEN CASE
                    WHEN _report_page.by = 'day' THEN date '2000-01-01' + a.owner::int
                    ELSE _report_page.since
                END AND CASE
                    WHEN _report_page.by = 'day' THEN date '2000-01-01' + a.owner::int
                    ELSE _report_page.until
                END
            OFFSET 0
        ) s
        UNION ALL
        SELECT r.owner, r.rate_card_id, r.cpu, r.memory, r.storage, r.gpu
        FROM recent r
        JOIN asked a
        USING (owner)
    )
    SELECT
        (
            SELECT array_agg(ROW(o.*)::weft.cost_part)
            FROM (
                SELECT p.owner, p.rate_card_id, sum(p.cpu), sum(p.memory), sum(p.storage), sum(p.gpu)
                FROM part p
                GROUP BY 1, 2
            ) o
        ),
        (
            SELECT CASE WHEN count(*) = limit_rows THEN max(a.owner) ELSE (SELECT u.owner FROM upto u) END
            FROM asked a
        )
$$;
