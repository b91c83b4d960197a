-- _dead_document: what is shown of a dead message; its body only on its own.
-- can_resend: it is whole, and a queue of weft was meant.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._dead_document(of_message weft.dead_message) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'dead_id', of_message.dead_id,
        'transport', of_message.transport,
        'source', of_message.source, 'reason', of_message.reason, 'error', of_message.error,
        'kept_at', of_message.kept_at, 'n_bytes', of_message.n_bytes,
        'can_resend', of_message.queue IS NOT NULL AND of_message.n_bytes = octet_length(of_message.body),
        'resend_at', of_message.resend_at,
        'acknowledged', of_message.acknowledged
    )
$$;
