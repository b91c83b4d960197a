-- _delivery_document: the document of the delivery of a callback or a notice. A delivery without a next
--   attempt was delivered or given up.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._delivery_document(delivery weft.callback_delivery) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'delivery_id', delivery.delivery_id,
        'delivery', delivery.name,
        'batch_id', delivery.batch_id,
        'group_id', delivery.group_id,
        'completion', delivery.completion,
        'event', delivery.event_key,
        -- A notice may go to an address with a login.
        'url', regexp_replace(delivery.url, '://[^/?#@]*@', '://'),
        'state', CASE
            WHEN delivery.delivered_at IS NOT NULL THEN 'delivered'
            WHEN delivery.next_at IS NULL THEN 'given_up'
            ELSE 'pending'
        END,
        'n_attempts', delivery.n_attempts,
        'last_status', delivery.last_status,
        'last_error', delivery.last_error,
        'created_at', delivery.created_at,
        'tried_at', delivery.tried_at,
        'next_at', delivery.next_at,
        'delivered_at', delivery.delivered_at
    )
$$;
