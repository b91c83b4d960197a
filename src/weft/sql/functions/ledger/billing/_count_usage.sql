-- _count_usage: add what batches used to the sums of their billing projects, of their users, and of
--   themselves, by date; and, by resource instead of shape, to those that pages read.
-- Safe to repeat: no.
-- Locks: sums.
-- Plan: batches, shapes and sums by key.
-- sums: of the deltas of the fold, without their groups.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_usage(sums weft.job_delta[]) RETURNS void LANGUAGE sql AS $$
    WITH part AS MATERIALIZED (
        SELECT
            u.batch_id,
            u.usage_on,
            u.rate_card_id,
            u.shape_id,
            sum(u.usage_ms)::bigint AS usage_ms,
            b.project_id,
            b.user_id,
            b.tenant_id
        FROM unnest(sums) u
        CROSS JOIN LATERAL (
            SELECT x.project_id, x.user_id, x.tenant_id
            FROM weft.batch x
            WHERE x.batch_id = u.batch_id
            OFFSET 0
        ) b
        WHERE u.rate_card_id IS NOT NULL
        GROUP BY 1, 2, 3, 4, 6, 7, 8
    ),
    of_batch AS (
        INSERT INTO weft.batch_usage AS s (
            batch_id, usage_on, rate_card_id, shape_id, project_id, tenant_id, usage_ms
        )
        SELECT p.batch_id, p.usage_on, p.rate_card_id, p.shape_id, p.project_id, p.tenant_id, p.usage_ms
        FROM part p
        ON CONFLICT (batch_id, usage_on, rate_card_id, shape_id) DO UPDATE
        SET usage_ms = s.usage_ms + excluded.usage_ms
    ),
    of_user AS (
        INSERT INTO weft.user_usage AS s (
            project_id, user_id, usage_on, rate_card_id, shape_id, tenant_id, usage_ms
        )
        SELECT p.project_id, p.user_id, p.usage_on, p.rate_card_id, p.shape_id, p.tenant_id, sum(p.usage_ms)
        FROM part p
        GROUP BY 1, 2, 3, 4, 5, 6
        ON CONFLICT (project_id, user_id, usage_on, rate_card_id, shape_id) DO UPDATE
        SET usage_ms = s.usage_ms + excluded.usage_ms
    ),
    of_resources AS (
        INSERT INTO weft.usage_sum AS s (
            tenant_id, project_id, user_id, usage_on, rate_card_id, cpu, memory, storage, gpu
        )
        SELECT
            p.tenant_id,
            coalesce(p.project_id, 0),
            coalesce(p.user_id, 0),
            coalesce(p.usage_on, '-infinity'),
            p.rate_card_id,
            sum(p.usage_ms::numeric * h.cpu_m),
            sum(p.usage_ms::numeric * h.memory_mib),
            sum(p.usage_ms::numeric * h.storage_mib),
            sum(p.usage_ms::numeric * h.gpu)
        FROM part p
        CROSS JOIN LATERAL (SELECT x.* FROM weft.shape x WHERE x.shape_id = p.shape_id OFFSET 0) h
        GROUP BY
            p.tenant_id,
            p.rate_card_id,
            GROUPING SETS (
                (p.project_id, p.user_id, p.usage_on),
                (p.project_id, p.usage_on),
                (p.user_id, p.usage_on),
                (p.usage_on),
                (p.project_id)
            )
        ON CONFLICT (tenant_id, project_id, user_id, usage_on, rate_card_id) DO UPDATE
        SET
            cpu = s.cpu + excluded.cpu,
            memory = s.memory + excluded.memory,
            storage = s.storage + excluded.storage,
            gpu = s.gpu + excluded.gpu
    )
    INSERT INTO weft.project_usage AS s (project_id, usage_on, rate_card_id, shape_id, tenant_id, usage_ms)
    SELECT p.project_id, p.usage_on, p.rate_card_id, p.shape_id, p.tenant_id, sum(p.usage_ms)
    FROM part p
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (project_id, usage_on, rate_card_id, shape_id) DO UPDATE
    SET usage_ms = s.usage_ms + excluded.usage_ms
$$;
