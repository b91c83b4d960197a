-- set_parameter: give a parameter a value from now on.
-- Safe to repeat: yes, the same value again is no new version.
-- Locks: setups.
-- Plan: by key, from the end.
-- of_type: of one that is new; NULL: as the value is.
-- Returns: its document.
-- by_user: as _add_version.
-- Raises WF121, WF246.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_parameter(
    tenant_id int,
    of_name text,
    value jsonb,
    of_type text,
    actor text,
    at timestamptz DEFAULT clock_timestamp(),
    by_user int DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7707, set_parameter.tenant_id);
    PERFORM weft._add_version(
        set_parameter.tenant_id, of_name, set_parameter.value, of_type, actor, NULL, set_parameter.at, by_user
    );
    RETURN (
        SELECT weft._parameter_document(p)
        FROM weft.parameter_version p
        WHERE p.tenant_id = set_parameter.tenant_id AND p.name = of_name
        ORDER BY p.version DESC
        LIMIT 1
    );
END $$;
