-- _add_version: give a parameter a value from now on; the same value again is no new version.
-- Safe to repeat: yes.
-- For: set_parameter, _save_parameters, which have locked setups.
-- Locks: setups (by the caller).
-- Plan: by key, from the end.
-- of_type: NULL: as it is, or, if it is new, as the value is.
-- of_setup NULL: a person sets it.
-- by_user: who sets it, without the right to manage: a parameter that stands in an image, a command or files
--   of a source, or in expressions for its environment, attributes or look-ups, chooses what runs as its
--   owner, so only the owner sets it. NULL: who may manage the tenant does.
-- Returns: whether there is a new version.
-- Raises WF121, WF246 (it has another type).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_version(
    of_tenant_id int,
    of_name text,
    value jsonb,
    of_type text,
    actor text,
    of_setup text,
    at timestamptz,
    by_user int
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_old weft.parameter_version;
    v_type text;
    v_value jsonb := _add_version.value;
    v_source text;
    v_owner text;
BEGIN
    SELECT p.*
    INTO v_old
    FROM weft.parameter_version p
    WHERE p.tenant_id = of_tenant_id AND p.name = of_name
    ORDER BY p.version DESC
    LIMIT 1;
    v_type := coalesce(v_old.type, of_type, weft._type_of(v_value));
    IF v_type <> coalesce(of_type, v_type) OR NOT weft._has_type(v_value, v_type) THEN
        PERFORM weft._fail(
            'WF246',
            format('parameter "%s" is of type %s', of_name, v_type),
            format('%s is not.', left(v_value::text, 200)),
            CASE
                WHEN v_old.version IS NULL THEN 'Give a value of this type.'
                ELSE 'Give a value of this type, or choose another name: configurations count on it.'
            END
        );
    END IF;
    IF v_old.value = v_value THEN
        RETURN false;
    END IF;
    SELECT s.name, u.name
    INTO v_source, v_owner
    FROM weft.source s
    JOIN weft.tenant_user u
    USING (user_id)
    WHERE s.tenant_id = of_tenant_id
        AND s.ended_at IS NULL
        AND s.user_id <> by_user
        AND (
            concat(s.template -> 'job', s.options -> 'command') ~ format('\$\{param\.%s[:}]', of_name)
                OR s.template -> 'steered_by' ? of_name
        )
    ORDER BY s.name
    LIMIT 1;
    IF v_source IS NOT NULL THEN
        PERFORM weft._fail(
            'WF121',
            format('parameter "%s" chooses what source "%s" runs as %s', of_name, v_source, v_owner),
            'It stands in the image, the command, the files, the environment, the attributes or a look-up of that source.',
            format('Ask %s, or an administrator of the tenant, to set it.', v_owner)
        );
    END IF;
    INSERT INTO weft.parameter_version (tenant_id, name, version, type, value, set_at, set_by, setup)
    VALUES (
        of_tenant_id,
        of_name,
        coalesce(v_old.version, 0) + 1,
        v_type,
        v_value,
        _add_version.at,
        _add_version.actor,
        of_setup
    );
    PERFORM pg_notify('sources', '');
    RETURN true;
END $$;
