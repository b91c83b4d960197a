-- _message_document: the document of a message of a sink.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._message_document(delivery weft.callback_delivery, sink text) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'delivery_id', delivery.delivery_id,
        'delivery', delivery.name, 'sink', sink, 'batch_id', delivery.batch_id, 'job_id', delivery.job_id,
        'file', nullif(delivery.file, ''),
        'url', regexp_replace(delivery.url, '://[^/?#@]*@', '://'),
        'order', delivery.order_key,
        'state', weft._message_state(delivery),
        'n_attempts', delivery.n_attempts,
        'last_status', delivery.last_status,
        'last_error', delivery.last_error,
        'created_at', delivery.created_at,
        'tried_at', delivery.tried_at,
        'next_at', delivery.next_at,
        'delivered_at', delivery.delivered_at
    )
$$;
