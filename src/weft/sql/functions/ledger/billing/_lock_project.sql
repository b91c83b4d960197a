-- _lock_project: lock a billing project of the tenant that is changed.
-- Safe to repeat: yes.
-- Returns: it.
-- Raises WF105.
-- Locks: project.
-- Plan: project by name.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_project(of_tenant_id int, of_name text) RETURNS weft.billing_project
LANGUAGE plpgsql AS $$
DECLARE
    v_project weft.billing_project;
BEGIN
    SELECT p.*
    INTO v_project
    FROM weft.billing_project p
    WHERE p.tenant_id = of_tenant_id AND p.name_key = weft._name_key(of_name) AND p.deleted_at IS NULL
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF105',
            format('billing project "%s" does not exist', of_name),
            'The tenant has no billing project of this name.',
            '`weft billing` lists them.'
        );
    END IF;
    RETURN v_project;
END $$;
