-- redeliver_callback: try an undelivered callback again at once, even if it was given up. If the attempt
--   fails, others follow within the limits of age and number.
-- Safe to repeat: yes, a callback that is due or being sent is left as it is.
-- Locks: delivery; as _record_change.
-- Plan: by key, or by name among those of the batch.
-- Arguments: the delivery's number or name.
-- Returns: its document.  Raises WF101, WF108 (no such delivery), WF217 (already delivered).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.redeliver_callback(
    tenant_id int,
    batch_id bigint,
    of_delivery_id bigint,
    of_name uuid,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_delivery weft.callback_delivery;
BEGIN
    PERFORM weft._check_batch(redeliver_callback.batch_id);
    SELECT d.*
    INTO v_delivery
    FROM weft.callback_delivery d
    WHERE d.batch_id = redeliver_callback.batch_id
        AND d.kind <> 'message'
        AND (d.delivery_id = of_delivery_id OR d.name = of_name)
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF108',
            format(
                'callback %s of batch b%s does not exist',
                coalesce(of_name::text, of_delivery_id::text),
                redeliver_callback.batch_id
            ),
            'The batch has no delivery of this number or name.',
            format('List them with `weft callback ls b%s`.', redeliver_callback.batch_id)
        );
    ELSIF v_delivery.delivered_at IS NOT NULL THEN
        PERFORM weft._fail(
            'WF217',
            format('callback %s of batch b%s was delivered', v_delivery.delivery_id, v_delivery.batch_id),
            format('Its receiver answered %s.', v_delivery.last_status),
            'It got the status of the batch or group, which you can read.'
        );
    ELSIF v_delivery.next_at <= redeliver_callback.at THEN
        RETURN weft._delivery_document(v_delivery);
    END IF;
    UPDATE weft.callback_delivery d
    SET next_at = redeliver_callback.at
    WHERE d.delivery_id = v_delivery.delivery_id
    RETURNING d.*
    INTO v_delivery;
    PERFORM weft._record_change(
        v_delivery.batch_id,
        coalesce(v_delivery.group_id, 0),
        'redelivered',
        redeliver_callback.actor,
        format(
            'callback %s of %s',
            v_delivery.delivery_id,
            coalesce('completion ' || v_delivery.completion, v_delivery.event_key)
        ),
        redeliver_callback.at
    );
    PERFORM pg_notify('driver', 'callback');
    RETURN weft._delivery_document(v_delivery);
END $$;
