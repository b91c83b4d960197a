-- _app_document: what is shown of a content of an application.
-- Plan: users by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._app_document(of_app weft.app_revision) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'name', of_app.name,
        'revision', of_app.revision,
        'digest', encode(of_app.digest, 'hex'),
        'n_bytes', of_app.n_bytes,
        'title', coalesce(of_app.description ->> 'title', ''),
        'system', of_app.description ->> 'system',
        'for_user', (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = of_app.for_user),
        'added_by', (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = of_app.added_by),
        'added_at', of_app.added_at
    )
$$;
