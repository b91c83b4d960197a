-- _before_retry: lock what jobs of a batch that run again may need, and note if they get gates for it.
-- Safe to repeat: yes.
-- For: retry_failed, change_status, before any row of the batch.
-- Locks: as _core_gates; batch_row.
-- Plan: as _core_gates.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._before_retry(of_tenant_id int, of_batch_id bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF weft._core_gates(of_tenant_id, NULL, of_batch_id) IS NOT NULL THEN
        UPDATE weft.batch b
        SET gated = true
        WHERE b.tenant_id = of_tenant_id AND b.batch_id = of_batch_id AND NOT b.gated;
    END IF;
END $$;
