-- _cause_name: the name under which people see a cause: 12 digits of hex.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._cause_name(of_cause_id bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT lpad(to_hex(of_cause_id), 12, '0')
$$;
