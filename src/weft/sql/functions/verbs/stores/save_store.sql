-- save_store: set a store of files; one of the same name is replaced, so a secret is always one of the user
--   who says where it is used.
-- Safe to repeat: yes.
-- Locks: file_store.
-- Plan: by key, and the stores of the tenant.
-- Returns: its document; NULL: the tenant has stores_max others.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.save_store(
    tenant_id int,
    user_id int,
    of_name text,
    of_url text,
    of_endpoint text,
    of_region text,
    of_access text,
    of_credentials text,
    secret_name text,
    stores_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_new weft.file_store;
BEGIN
    IF stores_max <= (
        SELECT count(*) FROM weft.file_store f WHERE f.tenant_id = save_store.tenant_id AND f.name <> of_name
    ) THEN
        RETURN NULL;
    END IF;
    INSERT INTO weft.file_store AS f (
        tenant_id, name, url, endpoint, region, access, credentials, secret_name, set_by, set_at
    )
    VALUES (
        save_store.tenant_id, of_name, of_url, of_endpoint, of_region, of_access, of_credentials,
        save_store.secret_name, save_store.user_id, save_store.at
    )
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET
        url = excluded.url,
        endpoint = excluded.endpoint,
        region = excluded.region,
        access = excluded.access,
        credentials = excluded.credentials,
        secret_name = excluded.secret_name,
        set_by = excluded.set_by,
        set_at = excluded.set_at
    RETURNING f.*
    INTO v_new;
    RETURN weft._store_document(v_new);
END $$;
