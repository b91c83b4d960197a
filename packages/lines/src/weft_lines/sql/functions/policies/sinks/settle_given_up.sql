-- settle_given_up: say what becomes of messages of a sink that were given up: they are sent again at once, or
--   dropped.
-- Safe to repeat: yes, those that are settled are left as they are.
-- Locks: delivery (by number).
-- Plan: as _unsent_messages.
-- decision: 'send', 'drop'; NULL: they are only counted.
-- Returns: how many, at most 10,000; a repeat takes further ones.
-- Raises WF151.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.settle_given_up(
    tenant_id int, of_name text, decision text, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[];
BEGIN
    SELECT coalesce(array_agg(d.delivery_id), '{}')
    INTO v_ids
    FROM weft._unsent_messages(weft._sinks_named(settle_given_up.tenant_id, of_name), of_state => 'given_up')
        d;
    IF decision IS NULL THEN
        RETURN cardinality(v_ids);
    END IF;
    v_ids := ARRAY(
        SELECT d.delivery_id
        FROM weft.callback_delivery d
        WHERE d.delivery_id = ANY (v_ids) AND weft._message_state(d) = 'given_up'
        ORDER BY d.delivery_id
        FOR UPDATE
    );
    UPDATE weft.callback_delivery d
    SET
        next_at = CASE decision WHEN 'send' THEN settle_given_up.at END,
        held = CASE WHEN decision = 'drop' THEN 'dropped' ELSE d.held END
    WHERE d.delivery_id = ANY (v_ids);
    PERFORM pg_notify('driver', 'callback');
    RETURN cardinality(v_ids);
END $$;
