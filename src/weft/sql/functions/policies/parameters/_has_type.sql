-- _has_type: whether a value is of a type of parameters.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._has_type(value jsonb, of_type text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF of_type <> 'date' THEN
        RETURN of_type = weft._type_of(value)
            AND jsonb_typeof(value) IN ('string', 'number', 'boolean', 'array')
            OR of_type = 'number' AND jsonb_typeof(value) = 'number';
    END IF;
    IF jsonb_typeof(value) <> 'string'
        OR value #>> '{}' !~ '^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))?$'
    THEN
        RETURN false;
    END IF;
    PERFORM (value #>> '{}')::timestamptz;
    RETURN true;
EXCEPTION
    WHEN datetime_field_overflow OR invalid_datetime_format THEN
        RETURN false;
END $$;
