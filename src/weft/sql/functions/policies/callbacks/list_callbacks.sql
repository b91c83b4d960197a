-- list_callbacks: documents of the callbacks and notices of a batch and its groups, in the order in which
--   they came.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_callbacks(tenant_id int, batch_id bigint, after bigint, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(list_callbacks.batch_id);
    RETURN QUERY
    SELECT weft._delivery_document(d)
    FROM weft.callback_delivery d
    WHERE d.batch_id = list_callbacks.batch_id
        AND d.kind <> 'message'
        AND d.delivery_id > list_callbacks.after
    ORDER BY d.delivery_id
    LIMIT list_callbacks.limit_rows;
END $$;
