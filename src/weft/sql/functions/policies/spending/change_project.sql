-- change_project: close or reopen a billing project, or change its limits.
-- Safe to repeat: yes.
-- Locks: as _lock_project; project; as _set_project_limit.
-- Plan: project by name.
-- patch: any of closed (boolean) and what _set_project_limit takes.
-- Raises WF105, WF140.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.change_project(
    tenant_id int, of_name text, patch jsonb, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_project weft.billing_project;
BEGIN
    v_project := weft._lock_project(change_project.tenant_id, of_name);
    UPDATE weft.billing_project p
    SET closed_at = CASE
        WHEN coalesce((patch->>'closed')::boolean, p.closed_at IS NOT NULL)
            THEN coalesce(p.closed_at, change_project.at)
    END
    WHERE p.project_id = v_project.project_id;
    PERFORM weft._set_project_limit(change_project.tenant_id, v_project.project_id, patch);
END $$;
