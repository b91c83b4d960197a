-- change_source: pause a source or let it go on; or let what it found since a date become jobs once more, and
--   read it again.
-- Safe to repeat: yes; a replay as a request with a key (first_answer).
-- Locks: source; source_item.
-- Plan: by key; the items since then.
-- Raises WF143.
-- paused NULL: as it is.
-- replay_since NULL: nothing is repeated.
-- Items that are being submitted, or wait, are left alone.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.change_source(
    tenant_id int,
    of_name text,
    paused boolean,
    replay_since timestamptz,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
    v_paused boolean;
BEGIN
    v_source := weft._seen_source(change_source.tenant_id, of_name);
    SELECT s.* INTO v_source FROM weft.source s WHERE s.source_id = v_source.source_id FOR UPDATE;
    v_paused := coalesce(change_source.paused, v_source.paused_at IS NOT NULL);
    IF replay_since IS NOT NULL THEN
        UPDATE weft.source_item i
        SET state = 'new', due_at = change_source.at, reason = NULL
        WHERE i.source_id = v_source.source_id
            AND i.found_at >= replay_since
            AND i.fields IS NOT NULL
            AND i.state IN ('job', 'cancelled', 'refused');
    END IF;
    UPDATE weft.source s
    SET
        paused_at = CASE WHEN v_paused THEN coalesce(s.paused_at, change_source.at) END,
        next_at = CASE WHEN NOT v_paused THEN change_source.at END,
        generation = s.generation + 1,
        cursor = CASE WHEN replay_since IS NULL THEN s.cursor END,
        work_at = CASE WHEN v_paused THEN s.work_at ELSE weft._next_item_at(s.source_id) END
    WHERE s.source_id = v_source.source_id AND s.ended_at IS NULL;
    PERFORM pg_notify('driver', 'sources');
    PERFORM pg_notify('sources', '');
END $$;
