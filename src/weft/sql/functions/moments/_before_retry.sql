-- _before_retry: what must be locked and known before jobs of a batch run again.
-- Called by: retry_failed, before any row of the batch.   Safe to repeat: yes.
-- Locks: as _core_gates.   Plan: as _core_gates.
-- Returns: whether _at_retry gives the jobs gates.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._before_retry(of_tenant_id int, of_batch_id bigint) RETURNS boolean LANGUAGE plpgsql
AS $$
BEGIN
    RETURN weft._core_gates(of_tenant_id, NULL, of_batch_id) IS NOT NULL;
END $$;
