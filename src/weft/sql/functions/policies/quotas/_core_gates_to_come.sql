-- _core_gates_to_come: the gates of running cores that a job has not yet, because a first quota has not reached it; and how many places it
--   will take.
-- Plan: open sweeps of the tenant, which are none as a rule; gates by key.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._core_gates_to_come(of_batch_id bigint, of_job_id int) RETURNS TABLE (gate_id int, cost int)
LANGUAGE sql STABLE AS $$
    SELECT g.gate_id, j.cpu_m FROM weft.batch b
    JOIN weft.core_sweep s ON s.tenant_id = b.tenant_id AND s.user_id IN (-1, 0, b.user_id) AND s.done_at IS NULL AND s.pass <> 'show'
    CROSS JOIN LATERAL weft._named_gates(CASE WHEN s.user_id < 0 THEN 'cores' ELSE 'cores_user' END, b.tenant_id, NULL,
        CASE WHEN s.user_id >= 0 THEN b.user_id END) g
    JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = of_job_id
    WHERE b.batch_id = of_batch_id
$$;
