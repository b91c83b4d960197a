-- resend_dead_message: let the driver send a dead message again, which then forgets it.
-- Safe to repeat: yes.
-- Locks: dead_message.
-- Plan: by key.
-- Returns: its document, unchanged if it cannot be sent again; NULL: there is none.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.resend_dead_message(
    tenant_id int, of_dead_id bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_message weft.dead_message;
BEGIN
    UPDATE weft.dead_message d
    SET resend_at = coalesce(
        d.resend_at,
        CASE WHEN d.queue IS NOT NULL AND d.n_bytes = octet_length(d.body) THEN resend_dead_message.at END
    )
    WHERE d.tenant_id = resend_dead_message.tenant_id AND d.dead_id = of_dead_id
    RETURNING d.*
    INTO v_message;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF v_message.resend_at IS NOT NULL THEN
        PERFORM pg_notify('driver', 'dead_messages');
    END IF;
    RETURN weft._dead_document(v_message);
END $$;
