-- list_messages: documents of the messages of a sink, the oldest first; also of one that is removed.
-- Safe to repeat: yes, it only reads.
-- Plan: by sink and number.
-- Raises WF151.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_messages(tenant_id int, of_name text, after bigint, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_sinks int[];
BEGIN
    v_sinks := weft._sinks_named(list_messages.tenant_id, of_name);
    RETURN QUERY
    SELECT weft._message_document(d, of_name)
    FROM weft.callback_delivery d
    WHERE d.sink_id = ANY (v_sinks) AND d.delivery_id > list_messages.after
    ORDER BY d.delivery_id
    LIMIT list_messages.limit_rows;
END $$;
