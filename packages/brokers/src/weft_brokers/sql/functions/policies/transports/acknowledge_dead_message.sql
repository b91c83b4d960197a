-- acknowledge_dead_message: note that a person has seen to a dead message. It leaves the list, and stays as
--   long as others.
-- Safe to repeat: yes, the first note stays.
-- Locks: dead_message.
-- Plan: by key.
-- Returns: its document; NULL: there is none.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.acknowledge_dead_message(
    tenant_id int, of_dead_id bigint, note text, actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_message weft.dead_message;
BEGIN
    UPDATE weft.dead_message d
    SET acknowledged = coalesce(
        d.acknowledged,
        jsonb_build_object(
            'at', acknowledge_dead_message.at,
            'by', acknowledge_dead_message.actor,
            'note', acknowledge_dead_message.note
        )
    )
    WHERE d.tenant_id = acknowledge_dead_message.tenant_id AND d.dead_id = of_dead_id
    RETURNING d.*
    INTO v_message;
    RETURN CASE WHEN FOUND THEN weft._dead_document(v_message) END;
END $$;
