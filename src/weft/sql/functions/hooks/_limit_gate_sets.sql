-- _limit_gate_sets: the gate set of each entry of a bunch with the gates of its queue and those of running
--   cores.
-- Safe to repeat: yes.
-- Locks: as _queue_sets; as _sets_of_cores.
-- Plan: as _queue_sets and _sets_of_cores; sets once for each combination.
-- limits: as from _before_submit.
-- gate_sets: the entries' sets so far; NULL: none has any.
-- Raises WF134 (a job asks for more than may ever run).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_gate_sets(
    bunch weft.bunch, jobs weft.job_columns, limits jsonb, gate_sets int[]
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_n int := coalesce(nullif(cardinality(jobs.entry_ns), 0), bunch.n_jobs);
    v_names text[];
    v_queue_sets int[];
    v_core_sets int[];
    v_asked bigint[];
    v_most bigint;
    v_over record;
BEGIN
    IF limits -> 'queues' <> '[]' THEN
        SELECT s.names, s.sets
        INTO v_names, v_queue_sets
        FROM weft._queue_sets(bunch.batch_id, ARRAY(SELECT jsonb_array_elements_text(limits -> 'queues'))) s;
    END IF;
    IF limits -> 'cores' <> 'null' THEN
        SELECT max(jobs.shape_cpu_ms[i + 1]) INTO v_most FROM unnest(jobs.shape_indexes) i;
        SELECT g.*
        INTO v_over
        FROM jsonb_to_recordset(limits -> 'cores') g (kind text, user_id int, max_places bigint)
        WHERE g.max_places < v_most
        ORDER BY g.kind DESC
        LIMIT 1;
        IF FOUND THEN
            PERFORM weft._fail(
                'WF134',
                format(
                    '%s may not run a job of %s cores',
                    weft._quota_owner(bunch.tenant_id, v_over.user_id),
                    trim_scale(v_most / 1000.0)
                ),
                format(
                    'Jobs that run at the same time may have %s cores in all.',
                    trim_scale(v_over.max_places / 1000.0)
                ),
                'Ask for fewer cores. `weft quota ls` shows what is allowed.'
            );
        END IF;
        -- also what only later attempts may ask for
        v_asked := ARRAY(SELECT DISTINCT c FROM unnest(jobs.shape_cpu_ms) c ORDER BY c);
        v_core_sets := weft._sets_of_cores(bunch.tenant_id, bunch.batch_id, limits -> 'cores', v_asked);
    END IF;
    RETURN (
        WITH entry AS MATERIALIZED (
            SELECT
                t.place,
                t.own,
                v_core_sets[array_position(v_asked, jobs.shape_cpu_ms[t.shape + 1])] AS of_cores,
                v_queue_sets[
                    array_position(
                        v_names, coalesce(jobs.shape_countables[t.shape + 1] ->> 'queue', 'default')
                    )
                ] AS of_queue
            FROM unnest(
                CASE
                    WHEN cardinality(jobs.shape_indexes) = v_n THEN jobs.shape_indexes
                    ELSE array_fill(jobs.shape_indexes[1], ARRAY[v_n])
                END,
                gate_sets
            ) WITH ORDINALITY t (shape, own, place)
        ),
        combined AS MATERIALIZED (
            SELECT
                d.*, weft._job_gates(weft._job_gates(coalesce(d.of_queue, 0), d.of_cores), d.own) AS gate_set
            FROM (
                SELECT DISTINCT e.own, e.of_queue, e.of_cores
                FROM entry e
                WHERE coalesce(e.own, e.of_queue, e.of_cores) IS NOT NULL
            ) d
        )
        SELECT array_agg(c.gate_set ORDER BY e.place)
        FROM entry e
        LEFT JOIN combined c ON c.own IS NOT DISTINCT FROM e.own
            AND c.of_queue IS NOT DISTINCT FROM e.of_queue
            AND c.of_cores IS NOT DISTINCT FROM e.of_cores
    );
END $$;
