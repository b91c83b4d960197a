-- What pages show of costs is what billing projects and users used, by resource instead of shape, for each
--   date and for all together.
WITH whole AS (
    SELECT
        u.tenant_id,
        coalesce(u.project_id, 0) AS project_id,
        coalesce(u.usage_on, '-infinity') AS usage_on,
        u.rate_card_id,
        ARRAY[
            sum(u.usage_ms::numeric * h.cpu_m),
            sum(u.usage_ms::numeric * h.memory_mib),
            sum(u.usage_ms::numeric * h.storage_mib),
            sum(u.usage_ms::numeric * h.gpu)
        ] AS used
    FROM weft.project_usage u
    JOIN weft.shape h
    USING (shape_id)
    GROUP BY
        u.tenant_id, u.rate_card_id, GROUPING SETS ((u.project_id, u.usage_on), (u.usage_on), (u.project_id))
),
of_user AS (
    SELECT
        u.tenant_id,
        coalesce(u.project_id, 0) AS project_id,
        u.user_id,
        u.usage_on,
        u.rate_card_id,
        ARRAY[
            sum(u.usage_ms::numeric * h.cpu_m),
            sum(u.usage_ms::numeric * h.memory_mib),
            sum(u.usage_ms::numeric * h.storage_mib),
            sum(u.usage_ms::numeric * h.gpu)
        ] AS used
    FROM weft.user_usage u
    JOIN weft.shape h
    USING (shape_id)
    GROUP BY u.tenant_id, u.user_id, u.usage_on, u.rate_card_id, GROUPING SETS ((u.project_id), ())
),
known AS (
    SELECT
        o.tenant_id,
        o.project_id,
        o.usage_on,
        o.rate_card_id,
        ARRAY[sum(o.used[1]), sum(o.used[2]), sum(o.used[3]), sum(o.used[4])] AS used
    FROM of_user o
    GROUP BY 1, 2, 3, 4
),
recounted AS (
    SELECT w.tenant_id, w.project_id, 0 AS user_id, w.usage_on, w.rate_card_id, w.used
    FROM whole w
    UNION ALL
    SELECT o.tenant_id, o.project_id, o.user_id, o.usage_on, o.rate_card_id, o.used
    FROM of_user o
    UNION ALL
    SELECT
        w.tenant_id,
        w.project_id,
        2147483647,
        w.usage_on,
        w.rate_card_id,
        ARRAY[
            w.used[1] - coalesce(k.used[1], 0),
            w.used[2] - coalesce(k.used[2], 0),
            w.used[3] - coalesce(k.used[3], 0),
            w.used[4] - coalesce(k.used[4], 0)
        ]
    FROM whole w
    LEFT JOIN known k
    USING (tenant_id, project_id, usage_on, rate_card_id)
    WHERE w.usage_on > '-infinity'
)
SELECT tenant_id, project_id, user_id, usage_on, rate_card_id, s.used AS counted, r.used AS recounted
FROM (SELECT x.*, ARRAY[x.cpu, x.memory, x.storage, x.gpu] AS used FROM weft.usage_sum x) s
FULL JOIN recounted r
USING (tenant_id, project_id, user_id, usage_on, rate_card_id)
WHERE coalesce(s.used, '{0,0,0,0}') <> coalesce(r.used, '{0,0,0,0}')
