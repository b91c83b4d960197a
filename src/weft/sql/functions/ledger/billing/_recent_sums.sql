-- _recent_sums: what was used in billing projects of the tenant (`{0}`: in all) in a period and is not folded
--   yet, by resource; exact in this statement's snapshot.
-- Plan: as _recent_usage; shapes by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._recent_sums(of_project_ids int[], since date, until date) RETURNS TABLE (
    project_id int,
    user_id int,
    batch_id bigint,
    usage_on date,
    rate_card_id smallint,
    cpu numeric,
    memory numeric,
    storage numeric,
    gpu numeric
) LANGUAGE sql STABLE AS $$
    SELECT
        r.project_id, r.user_id, r.batch_id, r.usage_on, r.rate_card_id, r.usage_ms::numeric * h.cpu_m,
        r.usage_ms::numeric * h.memory_mib,
        r.usage_ms::numeric * h.storage_mib,
        r.usage_ms::numeric * h.gpu
    FROM weft._recent_usage() r
    CROSS JOIN LATERAL (SELECT x.* FROM weft.shape x WHERE x.shape_id = r.shape_id OFFSET 0) h
    WHERE (of_project_ids = '{0}' OR r.project_id = ANY (of_project_ids))
        AND r.usage_on BETWEEN since AND until
$$;
