-- _token_document: a token as its owner sees it, without the token.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._token_document(of_token weft.token) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'token_id', of_token.token_id,
        'name', of_token.name,
        'scopes', of_token.scopes,
        'created_at', of_token.created_at,
        'expires_at', of_token.expires_at,
        'last_used_at', of_token.last_used_at,
        'pool', of_token.pool,
        'workers', of_token.worker_names
    )
$$;
