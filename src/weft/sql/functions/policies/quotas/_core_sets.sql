-- _core_sets: the gate sets of jobs of these shapes at gates of running cores: each takes as many places as it asks for mCPU.
-- Safe to repeat: yes.   Locks: as _sets_of_cores.   Plan: as _sets_of_cores.
-- cores: as from _core_gates.   Returns: a set for each shape, also of those that only later attempts may ask for.
-- Raises WF134 (a job asks for more than may ever run).   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._core_sets(bunch weft.bunch, jobs weft.job_columns, cores jsonb) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_asked bigint[] := ARRAY(SELECT DISTINCT c FROM unnest(jobs.shape_cpu_ms) c ORDER BY c); v_sets int[]; v_most bigint; v_over record;
BEGIN
    SELECT max(jobs.shape_cpu_ms[i + 1]) INTO v_most FROM unnest(jobs.shape_indexes) i;
    SELECT g.* INTO v_over FROM jsonb_to_recordset(cores) g (kind text, user_id int, max_places bigint)
    WHERE g.max_places < v_most ORDER BY g.kind DESC LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail('WF134',
            format('%s may not run a job of %s cores', weft._quota_owner(bunch.tenant_id,
                v_over.user_id), trim_scale(v_most / 1000.0)),
            format('Jobs that run at the same time may have %s cores in all.', trim_scale(v_over.max_places / 1000.0)),
            'Ask for fewer cores. `weft quota ls` shows what is allowed.');
    END IF;
    v_sets := weft._sets_of_cores(bunch.tenant_id, bunch.batch_id, cores, v_asked);
    RETURN ARRAY(SELECT v_sets[array_position(v_asked, t.c)] FROM unnest(jobs.shape_cpu_ms) WITH ORDINALITY t (c, n) ORDER BY t.n);
END $$;
