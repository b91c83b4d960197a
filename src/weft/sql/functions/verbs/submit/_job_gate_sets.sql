-- _job_gate_sets: the gate set of each entry of a bunch, from `gates` in the rare fields; NULL if no job has
--   gates of its own.
-- Safe to repeat: yes.
-- Locks: as _intern_gates.
-- Plan: as _intern_gates, once for each list of gates.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._job_gate_sets(bunch weft.bunch, base int, jobs weft.job_columns)
RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_lists jsonb[];
    v_sets int[];
BEGIN
    SELECT array_agg(DISTINCT f -> 'gates') INTO v_lists FROM unnest(jobs.rare_fields) f WHERE f ? 'gates';
    IF v_lists IS NULL THEN
        RETURN NULL;
    END IF;
    v_sets := weft._intern_gates(bunch.tenant_id, bunch.batch_id, v_lists);
    RETURN (
        WITH own AS MATERIALIZED (
            SELECT base + t.j AS first_job, l.gate_set
            FROM unnest(jobs.rare_jobs, jobs.rare_fields) t (j, fields)
            JOIN unnest(v_lists, v_sets) l (gates, gate_set) ON l.gates = t.fields -> 'gates'
        )
        SELECT array_agg(o.gate_set ORDER BY e.first_job)
        FROM (
            SELECT bunch.first_job + sum(t.n) OVER (ORDER BY t.place) - t.n AS first_job
            FROM unnest(coalesce(nullif(jobs.entry_ns, '{}'), array_fill(1, ARRAY[bunch.n_jobs])))
                WITH ORDINALITY t (n, place)
        ) e
        LEFT JOIN own o ON o.first_job = e.first_job
    );
END $$;
