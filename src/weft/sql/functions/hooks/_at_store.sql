-- _at_store: refuse further bytes that would exceed the quotas of the owner of a batch.
-- For: add_jobs, add_payload_part, _copy_parts, if _before_submit says that there is something to check.
-- Safe to repeat: yes, it only reads.
-- Plan: the batch by key; as _check_bytes.
-- Raises WF134.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._at_store(of_batch_id bigint, n_bytes bigint) RETURNS void LANGUAGE sql AS $$
    SELECT weft._check_bytes(b.tenant_id, b.user_id, _at_store.n_bytes)
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id
$$;
