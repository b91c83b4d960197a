-- store_items: keep what a reading of a source has found, with where the next one begins and when.
-- Safe to repeat: yes; an item whose key is known is the same.
-- Locks: as _check_epoch; source; source_item.
-- Plan: by keys.
-- items: [{key, fields, error}], the oldest first; fields null: they could not be read, which the error says.
--   A refused item that is found with other fields is new again.
-- error: why the reading failed; NULL: it did not.
-- Returns: how many items are new; NULL: the source is another one by now, or stopped, and nothing was kept.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.store_items(
    epoch bigint,
    of_source_id int,
    generation int,
    items jsonb,
    cursor jsonb,
    next_in_s double precision,
    error text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
    v_new int;
BEGIN
    SELECT s.* INTO v_source FROM weft.source s WHERE s.source_id = of_source_id FOR UPDATE;
    IF v_source.next_at IS NULL OR v_source.generation <> store_items.generation THEN
        RETURN NULL;
    END IF;
    INSERT INTO weft.source_item AS i (source_id, n, tenant_id, key, fields, found_at, state, due_at, reason)
    SELECT
        of_source_id,
        v_source.last_n + row_number() OVER (ORDER BY f.n),
        v_source.tenant_id, f.key, f.fields, store_items.at,
        CASE WHEN f.fields IS NULL THEN 'refused' ELSE 'new' END,
        CASE WHEN f.fields IS NOT NULL THEN store_items.at END,
        CASE WHEN f.fields IS NULL THEN coalesce(f.error, 'it could not be read') END
    FROM (
        SELECT
            DISTINCT ON (x ->> 'key') x ->> 'key' AS key,
            nullif(x -> 'fields', 'null') AS fields,
            left(x ->> 'error', 1024) AS error,
            n
        FROM jsonb_array_elements(items) WITH ORDINALITY e (x, n)
        ORDER BY x ->> 'key', n
    ) f
    ON CONFLICT (source_id, key) DO UPDATE
    SET
        fields = excluded.fields,
        state = excluded.state,
        due_at = excluded.due_at,
        reason = excluded.reason,
        series = NULL,
        series_at = NULL,
        series_from = NULL
    WHERE i.state = 'refused' AND (i.fields IS DISTINCT FROM excluded.fields OR i.reason <> excluded.reason);
    GET DIAGNOSTICS v_new = ROW_COUNT;
    UPDATE weft.source s
    SET
        last_n = s.last_n + jsonb_array_length(items),
        cursor = coalesce(store_items.cursor, s.cursor),
        next_at = store_items.at + next_in_s * interval '1 second',
        read_at = CASE WHEN store_items.error IS NULL THEN store_items.at ELSE s.read_at END,
        n_failures = CASE WHEN store_items.error IS NULL THEN 0 ELSE s.n_failures + 1 END,
        failed_since =
            CASE WHEN store_items.error IS NOT NULL THEN coalesce(s.failed_since, store_items.at) END,
        error = left(store_items.error, 1024),
        work_at = CASE
            WHEN v_new > 0 THEN least(coalesce(s.work_at, store_items.at), store_items.at)
            ELSE s.work_at
        END
    WHERE s.source_id = of_source_id;
    IF v_new > 0 THEN
        PERFORM pg_notify('sources', '');
    END IF;
    RETURN v_new;
END $$;
