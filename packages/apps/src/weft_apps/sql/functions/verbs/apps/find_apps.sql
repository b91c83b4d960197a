-- find_apps: the contents that new jobs of a user get by these names: their own application wins over the
--   tenant's.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.find_apps(tenant_id int, user_id int, names text[])
RETURNS TABLE (name text, revision_id bigint, digest bytea, description jsonb) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (r.name) r.name, r.revision_id, r.digest, r.description
    FROM weft.app_revision r
    WHERE r.tenant_id = find_apps.tenant_id
        AND r.name = ANY (find_apps.names)
        AND r.removed_at IS NULL
        AND weft._sees_app(r.for_user, find_apps.user_id)
    ORDER BY r.name, r.for_user DESC;
END $$;
