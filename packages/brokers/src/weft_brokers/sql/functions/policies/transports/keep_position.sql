-- keep_position: the events up to this one have been told to this reader.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; term (rows above).
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.keep_position(epoch bigint, reader text, xid bigint, event_id bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.event_reader r
    SET xid = keep_position.xid::text::xid8, event_id = keep_position.event_id
    WHERE r.reader = keep_position.reader
        AND (r.xid, r.event_id) < (keep_position.xid::text::xid8, keep_position.event_id);
END $$;
