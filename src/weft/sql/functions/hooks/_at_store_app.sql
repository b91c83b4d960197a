-- _at_store_app: refuse further bytes of an application that would exceed the quotas of a user.
-- Safe to repeat: yes, it only reads.
-- Locks: as _lock_quotas.
-- Plan: quotas by key; as _check_bytes.
-- Raises WF134.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._at_store_app(of_tenant_id int, of_user_id int, n_bytes bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF weft._lock_quotas(of_tenant_id, of_user_id, NULL, true) THEN
        PERFORM weft._check_bytes(of_tenant_id, of_user_id, n_bytes);
    END IF;
END $$;
