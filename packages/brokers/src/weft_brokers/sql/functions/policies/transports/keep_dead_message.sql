-- keep_dead_message: keep a message that nobody wants, and forget the oldest ones of its tenant beyond a
--   number and an age.
-- Safe to repeat: a repeat keeps it twice.
-- Locks: as _check_epoch; dead_message (the oldest, SKIP LOCKED).
-- Plan: by tenant and number, as many as are kept.
-- of_tenant: one that there is not has none.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.keep_dead_message(
    epoch bigint,
    transport text,
    of_tenant text,
    source text,
    queue text,
    reason text,
    error text,
    body bytea,
    n_bytes bigint,
    keep_max int,
    keep_s double precision,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
BEGIN
    SELECT t.tenant_id INTO v_tenant FROM weft.tenant t WHERE t.name = of_tenant;
    IF v_tenant IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO weft.dead_message (tenant_id, transport, source, queue, reason, error, kept_at, body, n_bytes)
    VALUES (
        v_tenant,
        keep_dead_message.transport,
        left(keep_dead_message.source, 500),
        keep_dead_message.queue,
        keep_dead_message.reason,
        left(keep_dead_message.error, 4000),
        keep_dead_message.at,
        keep_dead_message.body,
        keep_dead_message.n_bytes
    );
    DELETE FROM weft.dead_message d
    USING (
        SELECT x.dead_id
        FROM weft.dead_message x
        WHERE x.tenant_id = v_tenant
            AND (
                x.kept_at < keep_dead_message.at - keep_s * interval '1 second'
                    OR x.dead_id <= (
                        SELECT y.dead_id
                        FROM weft.dead_message y
                        WHERE y.tenant_id = v_tenant
                        ORDER BY y.dead_id DESC
                        OFFSET keep_max
                        LIMIT 1
                    )
            )
        ORDER BY x.dead_id
        FOR UPDATE SKIP LOCKED
    ) old
    WHERE d.dead_id = old.dead_id;
END $$;
