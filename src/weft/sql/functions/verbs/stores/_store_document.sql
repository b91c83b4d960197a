-- _store_document: what is shown of a store of files, which is never a credential.
-- Plan: users and secrets by key.
-- is_ready: false if the secret that it names was removed.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._store_document(of_store weft.file_store) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'name', of_store.name, 'url', of_store.url, 'endpoint', of_store.endpoint, 'region', of_store.region,
        'access', of_store.access,
        'credentials', of_store.credentials,
        'secret', of_store.secret_name,
        'is_ready', of_store.secret_name IS NULL
            OR EXISTS (
                SELECT FROM weft.secret s WHERE s.user_id = of_store.set_by AND s.name = of_store.secret_name
            ),
        'set_by', (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = of_store.set_by),
        'set_at', of_store.set_at
    )
$$;
