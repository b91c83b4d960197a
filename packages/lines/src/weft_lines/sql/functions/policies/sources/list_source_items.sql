-- list_source_items: a page of the items of a source, the newest first.
-- Safe to repeat: yes, it only reads.
-- Plan: by key, from the end.
-- Raises WF143.
-- before: only older ones; NULL: from the newest.
-- of_state: only these; NULL: all.
-- of_series: only those of this series.
--   of_key: only this one.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_source_items(
    tenant_id int, of_name text, before bigint, of_state text, of_series text, of_key text, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
BEGIN
    v_source := weft._seen_source(list_source_items.tenant_id, of_name);
    RETURN QUERY
    SELECT weft._item_document(i)
    FROM weft.source_item i
    WHERE i.source_id = v_source.source_id
        AND i.n < coalesce(list_source_items.before, 9223372036854775807)
        AND (of_state IS NULL OR i.state = of_state)
        AND (of_series IS NULL OR i.series = of_series)
        AND (of_key IS NULL OR i.key = of_key)
    ORDER BY i.n DESC
    LIMIT limit_rows;
END $$;
