-- _add_rows: add the jobs, edges and bunch for a bunch without arrays.
-- Safe to repeat: no.
-- For: _add_bunch, whose caller has checked and locked all referenced rows.
-- Locks: none but its inserts.
-- Plan: rows from the columns, side by side; earlier parents by key.
-- Numbers: shapes, groups, bunch and base are absolute; edges and chunks are relative to the update.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_rows(
    bunch weft.bunch, base int, jobs weft.job_columns, shape_ids int[], shape_lanes int[], gate_sets int[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_before int := bunch.first_job - 1;
    v_parent_count int[];
    v_bad_child int[];
    v_cross_child int[];
    v_has_cross boolean;
    v_spec int[];
    v_cpu_ms bigint[] := jobs.shape_cpu_ms;
    v_memory_mibs bigint[] := jobs.shape_memory_mibs;
    v_lane_firsts int[] := bunch.lane_firsts;
    v_lanes int[] := bunch.lane_ids;
    v_group int := jobs.group_ids[1];
    v_priority smallint := jobs.priorities[1];
    v_always boolean := jobs.always_runs[1];
    v_tries smallint := jobs.max_attempts[1];
    v_retry_on int := jobs.retry_ons[1];
BEGIN
    IF cardinality(jobs.edge_children) > 0 THEN
        -- Parents to wait for, -1 of a job without parents; jobs with a parent that should have succeeded,
        -- and did not; and jobs with parents in earlier updates.
        WITH e AS (
            SELECT DISTINCT
                base + t.c AS child,
                CASE WHEN t.p > 0 THEN base + t.p ELSE -t.p END AS parent,
                (
                    CASE
                        WHEN t.n < SHARE_NEED THEN t.n - SHARE_NEED
                        WHEN t.n < 0 THEN NEED_END
                        WHEN t.n = 0 THEN NEED_START
                    END
                )::smallint AS need
            FROM unnest(jobs.edge_children, jobs.edge_parents, jobs.edge_parent_ns) t (c, p, n)
        ),
        ins AS (
            INSERT INTO weft.edge (batch_id, parent_id, child_id, tenant_id, need)
            SELECT bunch.batch_id, e.parent, e.child, bunch.tenant_id, e.need
            FROM e
        ),
        counted AS (
            SELECT
                e.child,
                count(*)
                    FILTER (WHERE j.state IS NULL OR j.state < STATE_SUCCESS OR c.job_id IS NOT NULL) AS n,
                coalesce(
                    bool_or(
                        j.state > STATE_SUCCESS
                            AND c.job_id IS NULL
                            AND NOT weft._suffices(e.need, bunch.batch_id, e.parent)
                    ),
                    false
                ) AS bad,
                bool_or(e.parent <= base) AS is_cross
            FROM e
            LEFT JOIN weft.job j ON j.batch_id = bunch.batch_id AND j.job_id = e.parent AND e.parent <= base
            LEFT JOIN weft.cascade c ON c.batch_id = j.batch_id
                AND c.job_id = j.job_id
                AND c.next_child < e.child
            GROUP BY e.child
        )
        SELECT
            array_agg(coalesce(c.n, -1) ORDER BY i),
            array_agg(c.child) FILTER (WHERE c.bad),
            array_agg(c.child) FILTER (WHERE c.is_cross)
        INTO v_parent_count, v_bad_child, v_cross_child
        FROM generate_series(bunch.first_job, bunch.first_job + bunch.n_jobs - 1) i
        LEFT JOIN counted c ON c.child = i;
    END IF;
    v_has_cross := v_cross_child IS NOT NULL;
    IF cardinality(jobs.chunk_firsts) = 1 THEN
        v_spec := array_fill(base + jobs.chunk_firsts[1], ARRAY[jobs.chunk_ns[1]]);
    ELSE
        SELECT array_agg(base + c.first ORDER BY c.first, i)
        INTO v_spec
        FROM unnest(jobs.chunk_firsts, jobs.chunk_ns) c (first, n), generate_series(1, c.n) i;
    END IF;
    -- A job without parents is ready, and its range covers it unless it has a priority, always runs or has
    -- gates of its own.
    WITH new AS (
        INSERT INTO weft.job (
            batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m, memory_mib, lane_id,
            spec_first, state, n_unfinished, listed, staged, bad_parent, crowded, always_run, priority,
            max_attempts, retry_on, gate_set_id
        )
        SELECT
            bunch.batch_id, v_before + t.n, bunch.tenant_id, bunch.update_id, coalesce(t.g, v_group),
            shape_ids[t.s + 1], v_cpu_ms[t.s + 1], v_memory_mibs[t.s + 1], shape_lanes[t.s + 1], t.spec_first,
            CASE WHEN coalesce(t.np, -1) < 0 THEN STATE_READY ELSE STATE_PENDING END,
            greatest(coalesce(t.np, 0), 0),
            coalesce(t.np, -1) >= 0
                OR coalesce(t.priority, v_priority) <> 0
                OR coalesce(t.always_run, v_always)
                OR t.gate_set IS NOT NULL
                OR (cardinality(v_lanes) > 1 OR shape_lanes[t.s + 1] <> v_lanes[1])
                    AND shape_lanes[t.s + 1] <> v_lanes[width_bucket(t.n, v_lane_firsts)],
            v_has_cross AND v_before + t.n = ANY (v_cross_child),
            v_bad_child IS NOT NULL AND v_before + t.n = ANY (v_bad_child),
            coalesce(t.np > 1000, false),
            coalesce(t.always_run, v_always),
            coalesce(t.priority, v_priority),
            coalesce(t.tries, v_tries),
            coalesce(t.retry_on, v_retry_on),
            t.gate_set
        FROM (
            SELECT t.*
            FROM unnest(
                CASE
                    WHEN cardinality(jobs.shape_indexes) = bunch.n_jobs THEN jobs.shape_indexes
                    ELSE array_fill(jobs.shape_indexes[1], ARRAY[bunch.n_jobs])
                END,
                jobs.group_ids, jobs.priorities, jobs.always_runs, jobs.max_attempts, jobs.retry_ons,
                v_parent_count, v_spec, gate_sets
            ) WITH ORDINALITY AS t (s, g, priority, always_run, tries, retry_on, np, spec_first, gate_set, n)
        ) t
        RETURNING group_id, shape_id, state, listed
    ),
    counts AS (
        INSERT INTO weft.bunch_count (
            batch_id, update_id, first_job, group_id, shape_id, tenant_id, n_pending, n_ready
        )
        SELECT
            bunch.batch_id,
            bunch.update_id,
            bunch.first_job,
            n.group_id,
            n.shape_id,
            bunch.tenant_id,
            count(*) FILTER (WHERE n.state = STATE_PENDING),
            count(*) FILTER (WHERE n.state = STATE_READY)
        FROM new n
        GROUP BY n.group_id, n.shape_id
    )
    INSERT INTO weft.bunch (
        batch_id, update_id, first_job, n_jobs, tenant_id, n_ranged, n_listed, has_cross, idempotency_key,
        digest, lane_firsts, lane_ids, n_bytes
    )
    SELECT
        bunch.batch_id, bunch.update_id, bunch.first_job, bunch.n_jobs, bunch.tenant_id,
        count(*) FILTER (WHERE n.state = STATE_READY AND NOT n.listed),
        count(*) FILTER (WHERE n.state = STATE_READY AND n.listed),
        v_has_cross,
        bunch.idempotency_key,
        bunch.digest,
        ARRAY(SELECT v_before + f FROM unnest(v_lane_firsts) f),
        v_lanes,
        bunch.n_bytes
    FROM new n;
END $$;
