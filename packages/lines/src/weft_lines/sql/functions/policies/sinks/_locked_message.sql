-- _locked_message: a message of a sink, locked.
-- Safe to repeat: yes.
-- Locks: delivery.
-- Plan: by key.
-- Raises WF151, WF152 (no such message).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._locked_message(tenant_id int, of_name text, of_delivery_id bigint)
RETURNS weft.callback_delivery LANGUAGE plpgsql AS $$
DECLARE
    v_sinks int[] := weft._sinks_named(_locked_message.tenant_id, of_name);
    v_delivery weft.callback_delivery;
BEGIN
    SELECT d.*
    INTO v_delivery
    FROM weft.callback_delivery d
    WHERE d.sink_id = ANY (v_sinks) AND d.delivery_id = of_delivery_id
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF152',
            format('message %s of sink "%s" does not exist', of_delivery_id, of_name),
            'The sink has no message of this number.',
            format('List them with `weft line deliveries %s`.', of_name)
        );
    END IF;
    RETURN v_delivery;
END $$;
