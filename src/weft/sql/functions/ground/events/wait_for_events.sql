-- wait_for_events: a listener starts or stops waiting; while one waits, whoever writes an event notifies
--   channel events.
-- Safe to repeat: yes.
-- Locks: announcements (exclusive, shortly); listener.
-- Plan: events by key, from the horizon on.
-- Returns: whether committed events are withheld from readers because of an older open writer, whose end
--   nobody announces.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.wait_for_events(
    listener_id uuid, waits boolean, at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7701, 0);
    INSERT INTO weft.event_listener AS l (listener_id, waiting, seen_at)
    VALUES (wait_for_events.listener_id, wait_for_events.waits, wait_for_events.at)
    ON CONFLICT ON CONSTRAINT event_listener_pkey DO UPDATE
    SET waiting = excluded.waiting, seen_at = excluded.seen_at
    WHERE l.waiting <> excluded.waiting;
    RETURN EXISTS (SELECT FROM weft.event e WHERE e.xid >= pg_snapshot_xmin(pg_current_snapshot()));
END $$;
