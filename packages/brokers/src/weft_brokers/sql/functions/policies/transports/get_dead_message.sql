-- get_dead_message: a dead message with what is kept of its body.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Returns: its document; NULL: there is none.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_dead_message(tenant_id int, of_dead_id bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT weft._dead_document(d)
            || jsonb_build_object('body', translate(encode(d.body, 'base64'), E'\n', ''))
        FROM weft.dead_message d
        WHERE d.tenant_id = get_dead_message.tenant_id AND d.dead_id = of_dead_id
    );
END $$;
