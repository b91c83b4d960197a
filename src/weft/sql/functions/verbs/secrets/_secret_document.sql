-- _secret_document: what is shown of a secret, which is never its value.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._secret_document(of_secret weft.secret) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'name', of_secret.name, 'created_at', of_secret.created_at, 'updated_at', of_secret.updated_at
    )
$$;
