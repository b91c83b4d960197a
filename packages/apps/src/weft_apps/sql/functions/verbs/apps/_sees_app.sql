-- _sees_app: whether somebody may run an application: it is for everybody in the tenant, or for them.
-- Plan: inlined.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sees_app(for_user int, of_user_id int) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT for_user IN (0, of_user_id)
$$;
