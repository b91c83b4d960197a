-- _no_tenant: raise that there is no tenant of this name, or none that the caller may see.
-- Safe to repeat: yes.
-- Raises WF136.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._no_tenant(of_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._fail(
        'WF136',
        format('tenant "%s" does not exist', of_name),
        'No tenant of this name is visible to you.',
        'Administrators of the site list all tenants with `weft tenant ls`.'
    );
END $$;
