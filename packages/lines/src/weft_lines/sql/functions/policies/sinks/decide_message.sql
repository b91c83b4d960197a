-- decide_message: say what becomes of a message that a check has stopped. The driver sends it now, or leads
--   its job past it. One that was given up can be dropped, too: it is counted no more.
-- Safe to repeat: yes.
-- Locks: as _locked_message; delivery (locked there).
-- decision: 'passed', 'dropped'.
-- Returns: its document.
-- Raises WF151, WF152 (no such message), WF254 (no check has stopped it).
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.decide_message(
    tenant_id int,
    of_name text,
    of_delivery_id bigint,
    decision text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_delivery weft.callback_delivery;
BEGIN
    v_delivery := weft._locked_message(decide_message.tenant_id, of_name, of_delivery_id);
    IF weft._message_state(v_delivery) NOT IN (
        'held', CASE decision WHEN 'dropped' THEN 'given_up' ELSE 'held' END
    )
        AND (v_delivery.held IS DISTINCT FROM decision OR weft._message_state(v_delivery) = 'given_up')
    THEN
        PERFORM weft._fail(
            'WF254',
            format('no check has stopped message %s of sink "%s"', of_delivery_id, of_name),
            'It is not held, or somebody has decided about it.',
            format('See it with `weft line deliveries %s`.', of_name)
        );
    END IF;
    UPDATE weft.callback_delivery d
    SET held = decision, next_at = CASE d.held WHEN 'held' THEN decide_message.at ELSE d.next_at END
    WHERE d.delivery_id = v_delivery.delivery_id
    RETURNING d.*
    INTO v_delivery;
    PERFORM pg_notify('driver', 'callback');
    RETURN weft._message_document(v_delivery, of_name);
END $$;
