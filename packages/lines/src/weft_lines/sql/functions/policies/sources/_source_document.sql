-- _source_document: what readers see of a source.
-- Plan: user by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._source_document(of_source weft.source) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'source', of_source.name,
        'setup', of_source.setup,
        'kind', of_source.kind,
        'user', (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = of_source.user_id),
        'billing_project', of_source.billing_project,
        'lifecycle', of_source.lifecycle,
        'every_s', of_source.every_s,
        'state', CASE
            WHEN of_source.paused_at IS NOT NULL THEN 'paused'
            WHEN of_source.error IS NOT NULL THEN 'failing'
            ELSE 'active'
        END,
        'read_at', of_source.read_at,
        'next_at', of_source.next_at,
        'paused_at', of_source.paused_at,
        'n_failures', of_source.n_failures,
        'failed_since', of_source.failed_since,
        'error', coalesce(of_source.error, of_source.work_error)
    )
$$;
