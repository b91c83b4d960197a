-- _parameter_document: what readers see of a version of a parameter.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._parameter_document(one weft.parameter_version) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'parameter', one.name,
        'version', one.version,
        'type', one.type,
        'value', one.value,
        'set_at', one.set_at,
        'set_by', one.set_by,
        'setup', one.setup
    )
$$;
