-- _exceeded_bytes: the quota of a user, or else of their tenant, that further bytes would exceed; none: they
--   have room.
-- Safe to repeat: yes, it only reads.
-- Plan: quotas by key; as _stored_bytes for each quota of bytes.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._exceeded_bytes(of_tenant_id int, of_user_id int, more bigint)
RETURNS TABLE (is_user boolean, bytes_max bigint, n_bytes bigint) LANGUAGE sql STABLE AS $$
    SELECT l.is_user, l.bytes_max, s.n_bytes
    FROM (
        SELECT true AS is_user, q.bytes_max
        FROM weft._user_quotas(of_tenant_id, of_user_id) q
        UNION ALL
        SELECT false, q.bytes_max
        FROM weft.quota q
        WHERE q.tenant_id = of_tenant_id AND q.user_id = -1
    ) l
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(x.n_bytes), 0)::bigint AS n_bytes
        FROM weft._stored_bytes(of_tenant_id) x
        WHERE x.user_id = CASE WHEN l.is_user THEN of_user_id ELSE 0 END
    ) s
    WHERE l.bytes_max IS NOT NULL AND more > 0 AND s.n_bytes + more > l.bytes_max
    ORDER BY l.is_user DESC
    LIMIT 1
$$;
