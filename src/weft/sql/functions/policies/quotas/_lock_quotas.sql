-- _lock_quotas: let nobody else submit for a user, or for a tenant, whose quotas have to be counted, until
--   the commit.
-- Safe to repeat: yes.
-- Locks: quotas (shared); tenant (if it has a quota); user (if they have one).
-- Plan: quotas by key; without one of the tenant nothing else is read.
-- of_user_id NULL: the owner of the batch.
-- only_bytes: only those of bytes are to be checked.
-- Returns: whether there are quotas to check; NULL: the tenant has none at all. Cores, which gates count, are
--   not checked, and nobody waits for them.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._lock_quotas(
    of_tenant_id int, of_user_id int, of_batch_id bigint, only_bytes boolean DEFAULT false
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_user int := of_user_id;
    v_has record;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(7706, of_tenant_id);
    IF NOT EXISTS (SELECT FROM weft.quota q WHERE q.tenant_id = of_tenant_id) THEN
        RETURN NULL;
    END IF;
    IF v_user IS NULL THEN
        SELECT b.user_id INTO v_user FROM weft.batch b WHERE b.batch_id = of_batch_id;
    END IF;
    SELECT
        coalesce(bool_or(q.user_id = -1), false) AS of_tenant,
        coalesce(bool_or(q.user_id >= 0), false) AS of_user
    INTO v_has
    FROM weft.quota q
    WHERE q.tenant_id = of_tenant_id
        AND q.user_id IN (-1, 0, v_user)
        AND (q.bytes_max IS NOT NULL OR NOT only_bytes AND num_nonnulls(q.jobs_max, q.batches_max) > 0);
    IF v_has.of_tenant THEN
        PERFORM FROM weft.tenant t WHERE t.tenant_id = of_tenant_id FOR NO KEY UPDATE;
    END IF;
    IF v_has.of_user THEN
        PERFORM FROM weft.tenant_user u WHERE u.user_id = v_user FOR NO KEY UPDATE;
    END IF;
    RETURN v_has.of_tenant OR v_has.of_user;
END $$;
