-- take_dead_messages: messages over these transports that somebody wants sent again, the oldest first; forget
--   what is older than keep_s.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; dead_message (SKIP LOCKED).
-- Plan: those that are asked for, and the oldest by date.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.take_dead_messages(
    epoch bigint,
    transports text[],
    keep_s double precision,
    limit_rows int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (dead_id bigint, transport text, tenant text, queue text, body bytea) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.dead_message d
    USING (
        SELECT x.dead_id
        FROM weft.dead_message x
        WHERE x.kept_at < take_dead_messages.at - keep_s * interval '1 second'
        ORDER BY x.kept_at
        LIMIT 1000
        FOR UPDATE SKIP LOCKED
    ) old
    WHERE d.dead_id = old.dead_id;
    RETURN QUERY
    SELECT d.dead_id, d.transport, t.name, d.queue, d.body
    FROM weft.dead_message d
    JOIN weft.tenant t
    USING (tenant_id)
    WHERE d.resend_at IS NOT NULL AND d.queue IS NOT NULL AND d.transport = ANY (transports)
    ORDER BY d.resend_at, d.dead_id
    LIMIT limit_rows;
END $$;
