-- wait_for_events: a listener waits; who writes an event from now on notifies channel events.
-- Called by: Store.wait_for_events (api), then it lists once more.   Safe to repeat: yes.
-- Locks: advisory (7701, 0), exclusively and shortly, as every going to sleep.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.wait_for_events(listener_id uuid, at timestamptz DEFAULT clock_timestamp()) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7701, 0);
    INSERT INTO weft.event_listener AS l (listener_id, waiting, seen_at) VALUES (wait_for_events.listener_id, true, wait_for_events.at)
    ON CONFLICT ON CONSTRAINT event_listener_pkey DO UPDATE SET waiting = true, seen_at = excluded.seen_at WHERE NOT l.waiting;
END $$;
