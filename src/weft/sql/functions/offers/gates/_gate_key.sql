-- _gate_key: the key of a gate: whose it is (_gate_kinds), its name, and the user whom it limits. NULL: no
--   such owner.
-- Plan: inlined.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_key(
    owner text, of_tenant_id int, of_batch_id bigint, name text, of_user_id int DEFAULT NULL
) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE owner
        WHEN 'batch' THEN concat_ws('/', of_batch_id, name, of_user_id)
        WHEN 'tenant' THEN concat_ws('/', 't' || of_tenant_id, name, of_user_id)
        WHEN 'site' THEN concat_ws('/', 's', name, of_user_id)
    END
$$;
