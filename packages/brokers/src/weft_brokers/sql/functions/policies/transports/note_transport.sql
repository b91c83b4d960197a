-- note_transport: what the driver saw of a transport just now: that it answered, and what it holds of each
--   queue, or why it did not.
-- Safe to repeat: yes.
-- Plan: by key; depths of the transport, which are few.
-- Locks: as _check_epoch; transport_state; as _note_away.
-- error: NULL: it answered. tenants, queues, messages, consumers: side by side; an away transport keeps what
--   it had.
-- Returns: whether it has gone or come back since the last look.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.note_transport(
    epoch bigint,
    transport text,
    error text,
    tenants text[],
    queues text[],
    messages bigint[],
    consumers int[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_at timestamptz := clock_timestamp();
    v_before timestamptz;
BEGIN
    SELECT s.away_since
    INTO v_before
    FROM weft.transport_state s
    WHERE s.transport = note_transport.transport;
    INSERT INTO weft.transport_state AS s (transport, looked_at, away_since, error)
    VALUES (
        note_transport.transport,
        v_at,
        CASE WHEN note_transport.error IS NOT NULL THEN v_at END,
        left(note_transport.error, 1000)
    )
    ON CONFLICT (transport) DO UPDATE
    SET
        looked_at = v_at,
        error = excluded.error,
        away_since = CASE WHEN excluded.error IS NOT NULL THEN coalesce(s.away_since, v_at) END;
    IF note_transport.error IS NULL THEN
        DELETE FROM weft.transport_depth d WHERE d.transport = note_transport.transport;
        INSERT INTO weft.transport_depth (transport, tenant_id, queue, messages, consumers)
        SELECT note_transport.transport, t.tenant_id, x.queue, x.messages, x.consumers
        FROM unnest(tenants, queues, messages, consumers) x (tenant, queue, messages, consumers)
        JOIN weft.tenant t ON t.name = x.tenant
        ON CONFLICT DO NOTHING;
    END IF;
    PERFORM weft._note_away(note_transport.transport, note_transport.error, v_at);
    RETURN (v_before IS NULL) <> (note_transport.error IS NULL);
END $$;
