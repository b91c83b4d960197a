-- _core_gates: the gates that count the running cores of the jobs of a batch: of its owner and of the tenant,
--   as far as they have a quota of them. Until the commit these quotas stay.
-- Safe to repeat: yes.
-- Locks: quotas (shared); quota (shared: set_quota waits for both).
-- Plan: the batch and at most three quotas by key.
-- of_user_id NULL: the owner of the batch.
-- Returns: as _intern_gates takes them, without their costs; NULL: none.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._core_gates(of_tenant_id int, of_user_id int, of_batch_id bigint)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user int := of_user_id;
BEGIN
    -- A first quota has no row to wait for.
    PERFORM pg_advisory_xact_lock_shared(7706, of_tenant_id);
    IF v_user IS NULL THEN
        SELECT b.user_id INTO v_user FROM weft.batch b WHERE b.batch_id = of_batch_id;
    END IF;
    PERFORM
    FROM weft.quota q
    WHERE q.tenant_id = of_tenant_id AND q.user_id IN (-1, 0, v_user) AND q.cores_max_m IS NOT NULL
    ORDER BY q.user_id
    FOR SHARE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- In a statement of its own, which sees quotas that have just been set.
    RETURN (
        SELECT jsonb_agg(
            jsonb_build_object('kind', x.kind, 'user_id', x.user_id, 'max_places', x.cores_max_m)
        )
        FROM (
            SELECT 'cores_user' AS kind, v_user AS user_id, q.cores_max_m
            FROM weft._user_quotas(of_tenant_id, v_user) q
            UNION ALL
            SELECT 'cores', NULL, q.cores_max_m
            FROM weft.quota q
            WHERE q.tenant_id = of_tenant_id AND q.user_id = -1
        ) x
        WHERE x.cores_max_m IS NOT NULL
    );
END $$;
