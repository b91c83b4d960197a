-- get_source: a source, with the number of its items by state.
-- Safe to repeat: yes, it only reads.
-- Plan: source by key, its items.
-- Raises WF143.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_source(tenant_id int, of_name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
BEGIN
    v_source := weft._seen_source(get_source.tenant_id, of_name);
    RETURN weft._source_document(v_source) || jsonb_build_object(
        'user_id', v_source.user_id,
        'n_items', (
            SELECT coalesce(jsonb_object_agg(x.state, x.n), '{}')
            FROM (
                SELECT i.state, count(*) AS n
                FROM weft.source_item i
                WHERE i.source_id = v_source.source_id
                GROUP BY i.state
            ) x
        )
    );
END $$;
