-- _at_retry: what jobs get that run again, before their states change.
-- Safe to repeat: yes.
-- For: _retry, which has locked the jobs.
-- Locks: as _core_gates (by the caller); job (by the caller); as _with_core_gates; as _take_names.
-- Plan: as _core_gates, _with_core_gates; jobs and services by key.
-- Raises WF237 (as _take_names).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._at_retry(of_tenant_id int, of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    -- There may be a quota of running cores since.
    UPDATE weft.job j
    SET gate_set_id = w.gate_set_id
    FROM weft._core_gates(of_tenant_id, NULL, of_batch_id) c
    CROSS JOIN LATERAL weft._with_core_gates(of_tenant_id, of_batch_id, of_job_ids, c) w
    WHERE c IS NOT NULL AND j.batch_id = of_batch_id AND j.job_id = w.job_id;
    IF EXISTS (SELECT FROM weft.service s WHERE s.tenant_id = of_tenant_id) THEN
        PERFORM weft._take_names(of_tenant_id, of_batch_id, of_job_ids);
    END IF;
END $$;
