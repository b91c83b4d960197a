-- was_project: whether a billing project of this name was deleted.
-- Safe to repeat: yes, it only reads.
-- Locks: none.
-- Plan: projects by name.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.was_project(tenant_id int, of_name text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM weft.billing_project p
        WHERE p.tenant_id = was_project.tenant_id AND p.name = of_name AND p.deleted_at IS NOT NULL
    );
END $$;
