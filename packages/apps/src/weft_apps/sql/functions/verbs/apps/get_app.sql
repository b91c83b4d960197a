-- get_app: an application with its description: of two by this name the user's own.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF161.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_app(tenant_id int, user_id int, of_name text, sees_all boolean)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_app weft.app_revision;
BEGIN
    SELECT r.*
    INTO v_app
    FROM weft.app_revision r
    WHERE r.tenant_id = get_app.tenant_id
        AND r.name = of_name
        AND r.removed_at IS NULL
        AND (get_app.sees_all OR weft._sees_app(r.for_user, get_app.user_id))
    ORDER BY r.for_user = get_app.user_id DESC, r.for_user
    LIMIT 1;
    IF NOT FOUND THEN
        PERFORM weft._no_app(of_name);
    END IF;
    RETURN weft._app_document(v_app) || jsonb_build_object('description', v_app.description);
END $$;
