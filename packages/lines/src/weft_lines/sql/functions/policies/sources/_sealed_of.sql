-- _sealed_of: what is encrypted that a reading of a source needs: secrets that its options name, and of kind
--   `s3` the store; and of `amqp` and `kafka` the tenant, which is not encrypted.
-- Plan: by key.
-- Returns: as _secrets_of; `store`: as find_store, its body in base64 (null: there is no such store). NULL:
--   it needs nothing.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sealed_of(of_source weft.source) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_secrets jsonb := weft._secrets_of(of_source.tenant_id, of_source.user_id, of_source.options::text);
BEGIN
    IF of_source.kind IN ('amqp', 'kafka') THEN  -- transports are named for tenants
        RETURN jsonb_build_object(
            'tenant', (SELECT t.name FROM weft.tenant t WHERE t.tenant_id = of_source.tenant_id)
        );
    ELSIF of_source.kind <> 's3' THEN
        RETURN v_secrets;
    END IF;
    RETURN coalesce(v_secrets, '{}') || jsonb_build_object(
        'store', (
            SELECT jsonb_build_array(
                f.url, f.endpoint, f.region, f.access, f.credentials, f.secret_name, f.tenant_id, f.set_by,
                translate(encode(s.body, 'base64'), E'\n', '')
            )
            FROM weft.file_store f
            LEFT JOIN weft.secret s ON s.user_id = f.set_by AND s.name = f.secret_name
            WHERE f.tenant_id = of_source.tenant_id AND f.name = of_source.options ->> 'store'
        )
    );
END $$;
