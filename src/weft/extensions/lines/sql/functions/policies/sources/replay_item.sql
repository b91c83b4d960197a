-- replay_item: let one item that a source found become a job once more.
-- Safe to repeat: as a request with a key (first_answer); else it runs once more when it has its job.
-- Locks: source; source_item.   Plan: by key.   Raises WF143.
-- One that is being submitted, or waits, is left alone.
-- Returns: whether it runs again.   Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.replay_item(tenant_id int, of_name text, of_key text,
    at timestamptz DEFAULT clock_timestamp()) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source; v_again int;
BEGIN
    v_source := weft._seen_source(replay_item.tenant_id, of_name);
    SELECT s.* INTO v_source FROM weft.source s WHERE s.source_id = v_source.source_id FOR UPDATE;
    UPDATE weft.source_item i SET state = 'new', due_at = replay_item.at, reason = NULL
    WHERE i.source_id = v_source.source_id AND i.key = of_key AND i.fields IS NOT NULL AND i.state IN ('job', 'cancelled', 'refused');
    GET DIAGNOSTICS v_again = ROW_COUNT;
    UPDATE weft.source s SET work_at = weft._next_item_at(s.source_id)
    WHERE s.source_id = v_source.source_id AND s.next_at IS NOT NULL AND v_again > 0;
    PERFORM pg_notify('sources', '');
    RETURN v_again > 0;
END $$;
