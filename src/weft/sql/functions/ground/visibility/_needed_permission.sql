-- _needed_permission: what this transaction needs on a batch (weft.needs), as a PERMISSION; to see it if
--   nothing is said.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._needed_permission() RETURNS int LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('weft.needs', true), ''), '1')::int
$$;
