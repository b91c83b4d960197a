-- _with_core_gates: the gate sets of those of these jobs that lack a gate of running cores: their own gates
--   and these.
-- Safe to repeat: yes.
-- Locks: as _sets_of_cores; as _gate_set_id.
-- Plan: jobs by key; sets once for each that the jobs have and each number of mCPU.
-- cores: as from _core_gates.
-- Returns: no row for a job that has them all.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._with_core_gates(
    of_tenant_id int, of_batch_id bigint, of_job_ids int[], cores jsonb
) RETURNS TABLE (job_id int, gate_set_id int) LANGUAGE plpgsql AS $$
DECLARE
    v_cpu bigint[];
    v_sets int[];
BEGIN
    v_cpu := ARRAY(
        SELECT DISTINCT j.cpu_m
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT y.cpu_m FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
        ) j
        ORDER BY 1
    );
    IF v_cpu = '{}' THEN
        RETURN;
    END IF;
    v_sets := weft._sets_of_cores(of_tenant_id, of_batch_id, cores, v_cpu);
    RETURN QUERY
    WITH own AS MATERIALIZED (
        SELECT j.*
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT y.job_id, y.gate_set_id, y.cpu_m
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = x
            OFFSET 0
        ) j
    ),
    combined AS MATERIALIZED (
        SELECT d.*, weft._job_gates(v_sets[array_position(v_cpu, d.cpu_m::bigint)], d.gate_set_id) AS new_set
        FROM (SELECT DISTINCT o.gate_set_id, o.cpu_m FROM own o) d
    )
    SELECT o.job_id, c.new_set
    FROM own o
    JOIN combined c ON c.gate_set_id IS NOT DISTINCT FROM o.gate_set_id AND c.cpu_m = o.cpu_m
    WHERE c.new_set IS DISTINCT FROM o.gate_set_id
    ORDER BY o.job_id;
END $$;
