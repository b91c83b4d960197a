-- _tenant_document: a tenant as its administrators and those of the site see it.
-- Plan: users of the tenant by index.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._tenant_document(of_tenant weft.tenant) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'tenant_id', of_tenant.tenant_id,
        'name', of_tenant.name,
        'n_users', (
            SELECT count(*)
            FROM weft.tenant_user u
            WHERE u.tenant_id = of_tenant.tenant_id AND u.removed_at IS NULL
        ),
        'on_user_removal', of_tenant.on_user_removal,
        'allowed', of_tenant.allowed,
        'output_keep_s', of_tenant.output_keep_s,
        'output_keep_bytes', of_tenant.output_keep_bytes
    )
$$;
