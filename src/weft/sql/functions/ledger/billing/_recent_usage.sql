-- _recent_usage: what batches used that is not folded yet, by date; exact in this statement's snapshot.
-- Plan: inlined; the unfolded deltas once, and batches by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._recent_usage() RETURNS TABLE (
    project_id int,
    user_id int,
    batch_id bigint,
    usage_on date,
    rate_card_id smallint,
    shape_id int,
    usage_ms bigint
) LANGUAGE sql STABLE AS $$
    SELECT b.project_id, b.user_id, r.batch_id, r.usage_on, r.rate_card_id, r.shape_id, r.usage_ms
    FROM (
        SELECT d.batch_id, d.usage_on, d.rate_card_id, d.shape_id, sum(d.usage_ms)::bigint AS usage_ms
        FROM weft._unfolded() d
        WHERE d.rate_card_id IS NOT NULL
        GROUP BY 1, 2, 3, 4
    ) r
    CROSS JOIN LATERAL (
        SELECT x.project_id, x.user_id FROM weft.batch x WHERE x.batch_id = r.batch_id OFFSET 0
    ) b
$$;
