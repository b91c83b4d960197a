-- _report_owners: the projects, users or days (since 2000-01-01) after a number of which there are sums, in
--   order, and whether each used something in a period. Other divisions have one owner, 0.
-- Plan: by key, from one owner to the next, however many rows each has; at most scan_max of them (NULL: all),
--   for each of the projects.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._report_owners(
    of_tenant_id int, of_project_ids int[], by text, since date, until date, after bigint, scan_max int
) RETURNS TABLE (owner bigint, has_used boolean) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF by = 'project' AND of_project_ids <> '{0}' THEN
        RETURN QUERY
        SELECT p.id::bigint, true
        FROM unnest(of_project_ids) p (id)
        WHERE p.id > coalesce(after, 0)
        ORDER BY 1
        LIMIT scan_max;
    ELSIF by = 'project' THEN
        RETURN QUERY
        WITH RECURSIVE step (n, id) AS (
            SELECT 0, coalesce(after, 0)
            UNION ALL
            SELECT s.n + 1, o.id
            FROM step s
            CROSS JOIN LATERAL (
                SELECT x.project_id::bigint AS id
                FROM weft.usage_sum x
                WHERE x.tenant_id = of_tenant_id AND x.project_id > s.id
                ORDER BY x.project_id
                LIMIT 1
            ) o
            WHERE s.n < coalesce(scan_max, 2147483647)
        )
        -- No EXISTS, here and below: it could read all sums once, to look the owners up among them.
        SELECT
            s.id,
            (
                SELECT true
                FROM weft.usage_sum x
                WHERE x.tenant_id = of_tenant_id
                    AND x.project_id = s.id
                    AND x.user_id = 0
                    AND x.usage_on BETWEEN since AND until
                LIMIT 1
            ) IS NOT NULL
        FROM step s
        WHERE s.n > 0;
    ELSIF by = 'user' THEN
        RETURN QUERY
        WITH RECURSIVE step (n, id) AS (
            SELECT 0, coalesce(after, 0)
            UNION ALL
            SELECT s.n + 1, o.id
            FROM step s
            CROSS JOIN LATERAL (
                SELECT min(y.user_id)::bigint AS id
                FROM unnest(of_project_ids) p
                CROSS JOIN LATERAL (
                    SELECT x.user_id
                    FROM weft.usage_sum x
                    WHERE x.tenant_id = of_tenant_id AND x.project_id = p AND x.user_id > s.id
                    ORDER BY x.user_id
                    LIMIT 1
                ) y
            ) o
            WHERE s.n < coalesce(scan_max, 2147483647) AND o.id IS NOT NULL
        )
        SELECT
            s.id,
            (
                SELECT true
                FROM unnest(of_project_ids) p
                CROSS JOIN LATERAL (
                    SELECT
                    FROM weft.usage_sum x
                    WHERE x.tenant_id = of_tenant_id
                        AND x.project_id = p
                        AND x.user_id = s.id
                        AND x.usage_on BETWEEN since AND until
                    LIMIT 1
                ) y
                LIMIT 1
            ) IS NOT NULL
        FROM step s
        WHERE s.n > 0;
    ELSIF by = 'day' THEN
        RETURN QUERY
        SELECT DISTINCT (x.usage_on - date '2000-01-01')::bigint, true
        FROM unnest(of_project_ids) p
        CROSS JOIN LATERAL (
            SELECT DISTINCT y.usage_on
            FROM weft.usage_sum y
            WHERE y.tenant_id = of_tenant_id
                AND y.project_id = p
                AND y.user_id = 0
                AND y.usage_on BETWEEN  -- a cursor may be made up: no date is later than 2145031948 days
                    greatest(
                        since,
                        date '2000-01-01'
                            + CASE WHEN after IS NOT NULL THEN least(after + 1, 2000000000)::int END
                    ) AND until
            ORDER BY 1
            LIMIT scan_max
        ) x
        ORDER BY 1
        LIMIT scan_max;
    ELSE
        RETURN QUERY SELECT 0::bigint, true WHERE after IS NULL;
    END IF;
END $$;
