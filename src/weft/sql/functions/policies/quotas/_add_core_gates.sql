-- _add_core_gates: give jobs that ended before there was a quota of running cores its gates, before they are listed again.
-- Safe to repeat: yes.   For: _at_retry; retry_failed has locked the quotas.
-- Locks: as _core_gates (by the caller); job (by the caller); as _with_core_gates.   Plan: as _core_gates, _with_core_gates; jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._add_core_gates(of_tenant_id int, of_batch_id bigint, of_job_ids int[]) RETURNS void LANGUAGE sql AS $$
    UPDATE weft.job j SET gate_set_id = w.gate_set_id FROM weft._core_gates(of_tenant_id, NULL, of_batch_id) c
    CROSS JOIN LATERAL weft._with_core_gates(of_tenant_id, of_batch_id, of_job_ids, c) w
    WHERE c IS NOT NULL AND j.batch_id = of_batch_id AND j.job_id = w.job_id
$$;
