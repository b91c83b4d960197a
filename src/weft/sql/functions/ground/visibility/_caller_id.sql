-- _caller_id: the user on whose behalf this transaction runs; NULL: it may see the whole tenant, as operators
--   and the driver do.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._caller_id() RETURNS int LANGUAGE sql STABLE AS $$
    SELECT nullif(current_setting('weft.user', true), '')::int
$$;
