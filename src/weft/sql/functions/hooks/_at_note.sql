-- _at_note: whether further bytes of notes have room within the quotas of the owner of their batch.
-- Safe to repeat: yes, it only reads.
-- Plan: the batch by key; as _exceeded_bytes.
-- Quotas are not locked, for a note of a job that runs waits for no submission: two workers may exceed one by
--   a note each.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._at_note(of_batch_id bigint, n_bytes bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (
        SELECT
        FROM weft.batch b
        CROSS JOIN LATERAL weft._exceeded_bytes(b.tenant_id, b.user_id, _at_note.n_bytes)
        WHERE b.batch_id = of_batch_id
    )
$$;
