-- _merged: attributes after a JSON merge patch (RFC 7396) of their document: null removes. Raises WF231 if
--   the result has too many.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._merged(attributes jsonb, patch jsonb, attributes_max int) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_new jsonb;
    v_n int;
BEGIN
    IF NOT patch ? 'attributes' THEN
        RETURN attributes;
    ELSIF jsonb_typeof(patch -> 'attributes') = 'null' THEN
        RETURN '{}';
    END IF;
    v_new := jsonb_strip_nulls(attributes || (patch -> 'attributes'));
    SELECT count(*) INTO v_n FROM jsonb_object_keys(v_new);
    IF v_n > attributes_max AND v_n > (SELECT count(*) FROM jsonb_object_keys(attributes)) THEN
        PERFORM weft._fail(
            'WF231',
            'there would be too many attributes',
            format('It would be %s, the limit is %s.', v_n, attributes_max),
            'Remove some in the same request: null removes an attribute.'
        );
    END IF;
    RETURN v_new;
END $$;
