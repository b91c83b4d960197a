-- _count_usage: add what batches used to the sums of their billing projects, of their users, and of themselves, by date.
-- Called by: fold_deltas.   Safe to repeat: no.   Locks: sums.   Plan: batches and sums by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_usage(used weft.usage_part[]) RETURNS void LANGUAGE sql
AS $$
    WITH part AS MATERIALIZED (
        SELECT u.*, b.project_id, b.user_id, b.tenant_id FROM unnest(used) u
        CROSS JOIN LATERAL (SELECT x.project_id, x.user_id, x.tenant_id FROM weft.batch x WHERE x.batch_id = u.batch_id OFFSET 0) b),
    of_batch AS (
        INSERT INTO weft.batch_usage AS s (batch_id, usage_on, rate_card_id, shape_id, project_id, tenant_id, usage_ms)
        SELECT p.batch_id, p.usage_on, p.rate_card_id, p.shape_id, p.project_id, p.tenant_id, p.usage_ms FROM part p
        ON CONFLICT (batch_id, usage_on, rate_card_id, shape_id) DO UPDATE SET usage_ms = s.usage_ms + excluded.usage_ms),
    of_user AS (
        INSERT INTO weft.user_usage AS s (project_id, user_id, usage_on, rate_card_id, shape_id, tenant_id, usage_ms)
        SELECT p.project_id, p.user_id, p.usage_on, p.rate_card_id, p.shape_id, p.tenant_id, sum(p.usage_ms) FROM part p
        GROUP BY 1, 2, 3, 4, 5, 6
        ON CONFLICT (project_id, user_id, usage_on, rate_card_id, shape_id) DO UPDATE SET usage_ms = s.usage_ms + excluded.usage_ms)
    INSERT INTO weft.project_usage AS s (project_id, usage_on, rate_card_id, shape_id, tenant_id, usage_ms)
    SELECT p.project_id, p.usage_on, p.rate_card_id, p.shape_id, p.tenant_id, sum(p.usage_ms) FROM part p GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (project_id, usage_on, rate_card_id, shape_id) DO UPDATE SET usage_ms = s.usage_ms + excluded.usage_ms
$$;
