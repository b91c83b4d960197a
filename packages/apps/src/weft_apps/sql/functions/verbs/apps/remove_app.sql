-- remove_app: forget an application: new jobs do not get it. Jobs that have it run on, also again.
-- Safe to repeat: no.
-- Locks: app.
-- Plan: by key.
-- Raises WF161, WF118 (no such user).
-- for_user: NULL: the one that everybody may run.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_app(
    tenant_id int, of_name text, for_user text, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_for int;
BEGIN
    v_for := weft._app_user(remove_app.tenant_id, remove_app.for_user);
    UPDATE weft.app_revision r
    SET removed_at = remove_app.at
    WHERE r.tenant_id = remove_app.tenant_id
        AND r.name = of_name
        AND r.for_user = v_for
        AND r.removed_at IS NULL;
    IF NOT FOUND THEN
        PERFORM weft._no_app(of_name);
    END IF;
    PERFORM weft._sweep_apps(remove_app.tenant_id, remove_app.at);
END $$;
