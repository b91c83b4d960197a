-- _type_of: the type of a parameter that is new.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._type_of(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE jsonb_typeof(value)
        WHEN 'string' THEN 'text'
        WHEN 'boolean' THEN 'boolean'
        WHEN 'array' THEN 'list'
        WHEN 'number' THEN CASE WHEN value::text ~ '^-?\d+$' THEN 'integer' ELSE 'number' END
        ELSE 'text'
    END
$$;
