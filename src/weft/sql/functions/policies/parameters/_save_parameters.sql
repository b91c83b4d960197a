-- _save_parameters: give parameters what the file of a setup says. What it said before, too, leaves alone
--   what was set since.
-- Safe to repeat: yes.
-- For: save_setup, which has locked setups.
-- Locks: setups (by the caller).
-- Plan: by key, from the end.
-- parameters: each name, type, value.
-- Returns: the names of those with a new version.
-- Raises WF121, WF246.
-- by_user: as _add_version.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._save_parameters(
    of_tenant_id int, of_setup text, parameters jsonb, actor text, at timestamptz, by_user int
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_one jsonb;
    v_said jsonb;
    v_new text[] := '{}';
BEGIN
    FOR v_one IN SELECT x FROM jsonb_array_elements(parameters) x LOOP
        SELECT p.value
        INTO v_said
        FROM weft.parameter_version p
        WHERE p.tenant_id = of_tenant_id AND p.name = v_one ->> 'name' AND p.setup = of_setup
        ORDER BY p.version DESC
        LIMIT 1;
        CONTINUE WHEN v_said = v_one -> 'value';
        IF weft._add_version(
            of_tenant_id, v_one ->> 'name', v_one -> 'value', v_one ->> 'type', actor, of_setup, at, by_user
        ) THEN
            v_new := v_new || (v_one ->> 'name');
        END IF;
    END LOOP;
    RETURN v_new;
END $$;
