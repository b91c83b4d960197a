-- _stored_bytes: how much is stored for the users of a tenant, and (user 0) for all of them; exact in this
--   statement's snapshot.
-- Plan: inlined; sums by key, and the deltas that are not folded; batches by key; applications, whose lengths
--   are in their rows.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._stored_bytes(of_tenant_id int) RETURNS TABLE (user_id int, n_bytes bigint)
LANGUAGE sql STABLE AS $$
    SELECT x.user_id, weft._saturated(sum(x.n_bytes))
    FROM (
        SELECT s.user_id, s.n_bytes
        FROM weft.user_storage s
        WHERE s.tenant_id = of_tenant_id
        UNION ALL
        SELECT u.user_id, d.stored_bytes
        FROM weft._unfolded() d
        CROSS JOIN LATERAL (
            SELECT y.user_id FROM weft.batch y WHERE y.batch_id = d.batch_id AND NOT y.removing OFFSET 0
        ) b
        CROSS JOIN LATERAL (VALUES (b.user_id), (0)) u (user_id)
        WHERE d.tenant_id = of_tenant_id AND d.stored_bytes <> 0
        UNION ALL
        SELECT u.user_id, octet_length(p.body)
        FROM weft.app_part p
        CROSS JOIN LATERAL (VALUES (p.user_id), (0)) u (user_id)
        WHERE p.tenant_id = of_tenant_id
    ) x
    GROUP BY 1
$$;
