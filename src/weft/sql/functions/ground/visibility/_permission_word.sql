-- _permission_word: the name of a PERMISSION.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._permission_word(permission int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT (ARRAY['read', 'execute', 'write', 'all'])[permission]
$$;
