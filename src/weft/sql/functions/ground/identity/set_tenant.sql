-- set_tenant: change what a patch names of the tenant with this number, if this is its name.
-- Safe to repeat: yes.
-- Locks: tenant.
-- Plan: tenant by key; as _tenant_document.
-- Raises WF136.
-- patch: on_user_removal, output_keep_s, output_keep_bytes, allowed (by kind, NULL removes its list), or
--   nothing.
-- Returns: its document.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_tenant(tenant_id int, of_name text, patch jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_tenant weft.tenant;
BEGIN
    UPDATE weft.tenant t
    SET
        on_user_removal = coalesce(patch ->> 'on_user_removal', t.on_user_removal),
        output_keep_s = coalesce((patch ->> 'output_keep_s')::bigint, t.output_keep_s),
        output_keep_bytes = coalesce((patch ->> 'output_keep_bytes')::bigint, t.output_keep_bytes),
        allowed = jsonb_strip_nulls(t.allowed || coalesce(patch -> 'allowed', '{}'))
    WHERE t.tenant_id = set_tenant.tenant_id AND t.name_key = weft._name_key(of_name)
    RETURNING t.*
    INTO v_tenant;
    IF NOT FOUND THEN
        PERFORM weft._no_tenant(of_name);
    END IF;
    RETURN weft._tenant_document(v_tenant);
END $$;
