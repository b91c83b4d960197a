-- _at_retry: what jobs get that run again, before their states change.
-- Safe to repeat: yes.   For: _retry, which has locked the jobs.
-- Locks: as _add_core_gates; as _take_names.   Plan: as _add_core_gates; services by key.   Raises WF237 (as _take_names).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._at_retry(of_tenant_id int, of_batch_id bigint, of_job_ids int[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._add_core_gates(of_tenant_id, of_batch_id, of_job_ids);
    IF EXISTS (SELECT FROM weft.service s WHERE s.tenant_id = of_tenant_id) THEN
        PERFORM weft._take_names(of_tenant_id, of_batch_id, of_job_ids);
    END IF;
END $$;
