-- _job_gates: the gate set at which a job waits: its batch's gates and its own.
-- Called by: functions that put jobs into ready_job, for batches with gates; _queue_gate_sets.
-- Safe to repeat: yes.   Plan: both sets by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._job_gates(of_batch_set int, of_job_set int) RETURNS int LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN of_job_set IS NULL THEN of_batch_set ELSE weft._gate_set_id(
        (SELECT s.gate_ids FROM weft.gate_set s WHERE s.gate_set_id = of_batch_set)
        || (SELECT s.gate_ids FROM weft.gate_set s WHERE s.gate_set_id = of_job_set)) END
$$;
