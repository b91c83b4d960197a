-- get_batch: the document of a batch, with how many messages of its sinks have not arrived, and what running
--   jobs say of themselves.
-- Safe to repeat: yes, it only reads.
-- Plan: by key; as _unsent_of_batch, _progress_of_batch.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_batch(tenant_id int, batch_id bigint) RETURNS jsonb
LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM weft._check_batch(get_batch.batch_id);
    RETURN (
        SELECT d.document || weft._unsent_of_batch(get_batch.batch_id) || CASE
            WHEN d.document ->> 'n_running' = '0' THEN '{}'
            ELSE weft._progress_of_batch(get_batch.batch_id)
        END
        FROM weft._group_documents(ARRAY[get_batch.batch_id], ARRAY[0]) d
    );
END $$;
