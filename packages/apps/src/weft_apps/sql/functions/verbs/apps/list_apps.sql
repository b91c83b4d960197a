-- list_apps: the applications that a user may run, by name; for those who add and remove them all of the
--   tenant.
-- Safe to repeat: yes, it only reads.
-- Plan: the applications of the tenant, which are few.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_apps(tenant_id int, user_id int, sees_all boolean) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._app_document(r)
    FROM weft.app_revision r
    WHERE r.tenant_id = list_apps.tenant_id
        AND r.removed_at IS NULL
        AND (list_apps.sees_all OR weft._sees_app(r.for_user, list_apps.user_id))
    ORDER BY r.name, r.for_user;
END $$;
