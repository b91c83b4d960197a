-- _user_document: a user as administrators of the tenant see them.
-- Plan: tokens of the user by index.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._user_document(of_user weft.tenant_user) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'user_id', of_user.user_id,
        'name', of_user.name,
        'role', of_user.role,
        'weight', of_user.weight,
        'weight_until', of_user.weight_until,
        'last_seen_at', (SELECT max(t.last_used_at) FROM weft.token t WHERE t.user_id = of_user.user_id)
    )
$$;
