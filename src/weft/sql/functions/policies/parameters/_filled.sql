-- _filled: a document with the values of parameters where its texts say `${param.NAME}`; those that nobody
--   has set stay as they are.
-- Plan: by key, from the end.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._filled(of_tenant_id int, document jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_text text := document::text;
    v_name text;
    v_value text;
BEGIN
    IF strpos(v_text, '${param.') = 0 THEN
        RETURN document;
    END IF;
    FOR v_name IN SELECT DISTINCT m[1] FROM regexp_matches(v_text, '\$\{param\.(\w+)\}', 'g') m LOOP
        SELECT to_json(p.value #>> '{}')::text
        INTO v_value
        FROM weft.parameter_version p
        WHERE p.tenant_id = of_tenant_id AND p.name = v_name
        ORDER BY p.version DESC
        LIMIT 1;
        IF FOUND THEN
            v_text := replace(v_text, '${param.' || v_name || '}', substr(v_value, 2, length(v_value) - 2));
        END IF;
    END LOOP;
    RETURN v_text::jsonb;
END $$;
