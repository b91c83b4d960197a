-- try_source: what is needed to read a source once and to say what would become of its items; and which of
--   these keys it knows.
-- Safe to repeat: yes, it only reads.
-- Plan: source by key; items by key.
-- Raises WF143.
-- Returns: options have values instead of `${param.NAME}`; sealed: as _sealed_of; look_ups_sealed: as
--   _secrets_of; known: the state of each item by its key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.try_source(tenant_id int, of_name text, keys text[]) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
BEGIN
    v_source := weft._seen_source(try_source.tenant_id, of_name);
    RETURN jsonb_build_object(
        'source_id', v_source.source_id,
        'kind', v_source.kind,
        'options', weft._filled(v_source.tenant_id, v_source.options),
        'every_s', v_source.every_s,
        'cursor', v_source.cursor,
        'sealed', weft._sealed_of(v_source),
        'look_ups_sealed', weft._secrets_of(
            v_source.tenant_id, v_source.user_id, coalesce(v_source.template #>> '{configure,let}', '')
        ),
        'template', v_source.template,
        'lifecycle', v_source.lifecycle,
        'billing_project', v_source.billing_project,
        'user_id', v_source.user_id,
        'owner', (
            SELECT jsonb_build_object('name', u.name, 'role', u.role)
            FROM weft.tenant_user u
            WHERE u.user_id = v_source.user_id
        ),
        'known', (
            SELECT coalesce(jsonb_object_agg(i.key, i.state), '{}')
            FROM weft.source_item i
            WHERE i.source_id = v_source.source_id AND i.key = ANY (keys)
        )
    );
END $$;
