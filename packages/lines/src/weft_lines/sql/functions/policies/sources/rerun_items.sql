-- rerun_items: let what a source found become jobs once more: one item, or those of a series from a point on,
--   one after another.
-- Safe to repeat: as a request with a key (first_answer); else those that have their jobs by then run once
--   more.
-- Locks: source; source_item.
-- Plan: by key; the items of a series by source_item_decided_idx.
-- Raises WF143.
-- of_key NULL: a series.
-- since: as series_at.
-- Items that are being submitted, or wait, are left alone.
-- Returns: how many run again.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.rerun_items(
    tenant_id int,
    of_name text,
    of_key text,
    of_series text,
    since numeric,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
    v_again int;
BEGIN
    v_source := weft._seen_source(rerun_items.tenant_id, of_name);
    SELECT s.* INTO v_source FROM weft.source s WHERE s.source_id = v_source.source_id FOR UPDATE;
    IF of_key IS NOT NULL THEN
        UPDATE weft.source_item i
        SET state = 'new', due_at = rerun_items.at, reason = NULL
        WHERE i.source_id = v_source.source_id
            AND i.key = of_key
            AND i.fields IS NOT NULL
            AND i.state IN ('job', 'cancelled', 'refused');
    ELSE
        UPDATE weft.source_item i
        SET state = 'new', due_at = rerun_items.at, reason = 'it runs again, as somebody asked'
        WHERE i.source_id = v_source.source_id
            AND i.series = of_series
            AND i.series_at >= since
            AND i.state IN ('job', 'cancelled', 'refused');
    END IF;
    GET DIAGNOSTICS v_again = ROW_COUNT;
    UPDATE weft.source s
    SET work_at = weft._next_item_at(s.source_id)
    WHERE s.source_id = v_source.source_id AND s.next_at IS NOT NULL AND v_again > 0;
    PERFORM pg_notify('sources', '');
    RETURN v_again;
END $$;
