-- get_setup: the file of a production line, as it came, and the names of its lifecycles.
--   It is there for whoever sees all of its sources.
-- Plan: by key; as _sees_maker.
-- Raises WF142.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_setup(tenant_id int, of_name text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_setup weft.setup;
BEGIN
    SELECT s.*
    INTO v_setup
    FROM weft.setup s
    WHERE s.tenant_id = get_setup.tenant_id
        AND s.name = of_name
        AND NOT EXISTS (
            SELECT
            FROM weft.source x
            WHERE x.tenant_id = s.tenant_id
                AND x.setup = s.name
                AND x.ended_at IS NULL
                AND NOT weft._sees_maker(x)
        );
    IF v_setup.name IS NULL THEN
        PERFORM weft._no_setup(of_name);
    END IF;
    RETURN jsonb_build_object(
        'setup', v_setup.name,
        'document', v_setup.document,
        'saved_at', v_setup.saved_at,
        'saved_by', v_setup.saved_by,
        'lifecycles', (
            SELECT coalesce(jsonb_agg(l.name ORDER BY l.name), '[]')
            FROM weft.lifecycle l
            WHERE l.tenant_id = get_setup.tenant_id AND l.setup = v_setup.name AND l.ended_at IS NULL
        )
    );
END $$;
