-- _sets_of_cores: the gate sets of jobs that ask for these numbers of mCPU: each takes as many places of each
--   gate.
-- Safe to repeat: yes.
-- Locks: as _intern_gates.
-- Plan: as _intern_gates, once for each number of mCPU.
-- cores: as from _core_gates.
-- Returns: a set for each number, in order.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._sets_of_cores(
    of_tenant_id int, of_batch_id bigint, cores jsonb, cpu_ms bigint[]
) RETURNS int[] LANGUAGE sql AS $$
    SELECT weft._intern_gates(
        of_tenant_id,
        of_batch_id,
        ARRAY(
            SELECT (SELECT jsonb_agg(g || jsonb_build_object('cost', t.c)) FROM jsonb_array_elements(cores) g)
            FROM unnest(cpu_ms) WITH ORDINALITY t (c, n)
            ORDER BY t.n
        )
    )
$$;
