-- redeliver_message: try to send a message again at once, even if it was given up. If the try fails, others
--   follow within the limits.
-- Safe to repeat: yes, one that is due or being sent is left as it is.
-- Locks: as _locked_message; delivery (locked there).
-- Plan: by key.
-- Returns: its document.  Raises WF151, WF152 (no such message), WF252 (sent already).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.redeliver_message(
    tenant_id int, of_name text, of_delivery_id bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_delivery weft.callback_delivery;
BEGIN
    v_delivery := weft._locked_message(redeliver_message.tenant_id, of_name, of_delivery_id);
    IF v_delivery.delivered_at IS NOT NULL THEN
        PERFORM weft._fail(
            'WF252',
            format('message %s of sink "%s" was delivered', of_delivery_id, of_name),
            coalesce('Its receiver answered ' || v_delivery.last_status || '.', 'It has arrived.'),
            'It is not sent again.'
        );
    ELSIF v_delivery.next_at IS NULL OR v_delivery.next_at > redeliver_message.at THEN
        UPDATE weft.callback_delivery d
        SET
            next_at = redeliver_message.at,
            held = CASE
                WHEN d.held = 'passed' THEN d.held
            END  -- else its checks are made again
        WHERE d.delivery_id = v_delivery.delivery_id
        RETURNING d.*
        INTO v_delivery;
        PERFORM pg_notify('driver', 'callback');
    END IF;
    RETURN weft._message_document(v_delivery, of_name);
END $$;
