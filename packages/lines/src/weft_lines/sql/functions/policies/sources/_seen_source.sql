-- _seen_source: the source of this name, if the caller sees it.
-- Plan: by key.
-- Raises WF143.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._seen_source(of_tenant_id int, of_name text) RETURNS weft.source
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_source weft.source;
BEGIN
    SELECT s.*
    INTO v_source
    FROM weft.source s
    WHERE s.tenant_id = of_tenant_id AND s.name = of_name AND s.ended_at IS NULL AND weft._sees_maker(s);
    IF v_source.source_id IS NULL THEN
        PERFORM weft._fail(
            'WF143',
            format('source "%s" does not exist', left(of_name, 64)),
            'No line has a source of this name.',
            'List them with `weft source ls`.'
        );
    END IF;
    RETURN v_source;
END $$;
