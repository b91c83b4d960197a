-- _job_gates: the gate set at which a job waits: its batch's gates and its own.
-- Safe to repeat: yes.
-- Plan: both sets by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._job_gates(of_batch_set int, of_job_set int) RETURNS int
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT CASE
        WHEN of_job_set IS NULL THEN of_batch_set
        ELSE (
            SELECT weft._gate_set_id(array_agg(m.gate_id), array_agg(m.cost))
            FROM (
                SELECT x.gate_id, max(x.cost) AS cost
                FROM weft.gate_member x
                WHERE x.gate_set_id IN (of_batch_set, of_job_set)
                GROUP BY 1
            ) m
        )
    END
$$;
