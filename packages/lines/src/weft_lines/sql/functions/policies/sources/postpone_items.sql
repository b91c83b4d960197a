-- postpone_items: let a source go whose items could not become jobs now, and try again later.
-- Safe to repeat: yes; a repeat changes nothing.
-- Locks: source; as _record_submitted.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.postpone_items(
    tenant_id int,
    of_source_id int,
    taking bigint,
    error text,
    wait_s double precision,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
BEGIN
    v_source := weft._taken_source(of_source_id, taking);
    IF v_source.source_id IS NULL THEN
        RETURN;
    END IF;
    PERFORM weft._record_submitted(v_source);
    UPDATE weft.source s
    SET
        taken_until = NULL,
        work_error = left(postpone_items.error, 1024),
        work_at = greatest(postpone_items.at + wait_s * interval '1 second', weft._next_item_at(of_source_id))
    WHERE s.source_id = of_source_id;
END $$;
