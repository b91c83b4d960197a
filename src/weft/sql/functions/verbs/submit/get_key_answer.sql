-- get_key_answer: what became of a submission with a key: `skipped` if it made no batch, `replaced` with the
--   batch that it replaced.
-- Safe to repeat: yes, it only reads.
-- Locks: none.
-- Plan: by key.
-- of_batch_id: which it was answered with.
-- repeat_key: its idempotency key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_key_answer(
    tenant_id int, of_batch_id bigint, repeat_key text, is_new boolean
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT CASE
            WHEN NOT get_key_answer.is_new AND (b.idempotency_key = get_key_answer.repeat_key) IS NOT TRUE
                THEN '{"skipped": true}'
            ELSE jsonb_strip_nulls(jsonb_build_object('replaced', b.replaces))
        END
        FROM weft.batch b
        WHERE b.batch_id = of_batch_id
    );
END $$;
