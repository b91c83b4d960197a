-- _add_bunch: add the jobs of a bunch, with all that belongs to them.
-- Safe to repeat: no.
-- For: add_jobs, submit. The update is the caller's own, or it holds the update's lock.
-- Locks: update (by the caller); as _shape_ids; as _lock_parents; membership (new); as _job_gate_sets; as
--   _limit_gate_sets; job (locked there, and new ones); edge (nobody else); as _recount_parents; as
--   _add_details; output_term.
-- Plan: inserts.
-- limits: as from _before_submit.
-- Raises WF103 (group), WF205, WF231 (as _lock_parents), WF134 (as _limit_gate_sets), WF237 (as
--   _add_details).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_bunch(
    of_update weft.batch_update, bunch weft.bunch, jobs weft.job_columns, limits jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_base int := of_update.first_job - 1;
    v_shapes int[];
    v_lanes int[];
    v_gate_sets int[];
    v_done boolean;
BEGIN
    -- else the root, which every batch has
    IF jobs.group_ids <> '{0}' OR cardinality(jobs.combo_sets) > 0 THEN
        jobs.group_ids := weft._tree_groups(of_update, jobs.group_ids, jobs.combo_sets);
    END IF;
    SELECT s.shape_ids, s.lane_ids
    INTO v_shapes, v_lanes
    FROM weft._shape_ids(
        jobs.shape_cpu_ms,
        jobs.shape_memory_mibs,
        jobs.shape_storage_mibs,
        jobs.shape_gpus,
        jobs.shape_countables
    ) s;
    bunch.lane_firsts := '{1}';
    bunch.lane_ids := ARRAY[v_lanes[jobs.shape_indexes[1] + 1]];
    IF cardinality(jobs.shape_indexes) > 1 AND NOT v_lanes[1] = ALL (v_lanes) THEN
        -- Where runs of neighbours of one lane begin, from 1. Runs shorter than 100 jobs join the section
        -- around them, and are listed.
        SELECT
            1 || (array_agg(r.first ORDER BY r.first))[2:],
            coalesce(array_agg(r.lane ORDER BY r.first), bunch.lane_ids)
        INTO bunch.lane_firsts, bunch.lane_ids
        FROM (
            SELECT min(t.first)::int AS first, t.lane
            FROM (
                SELECT
                    e.lane,
                    e.n,
                    1 + sum(e.n) OVER (ORDER BY e.place) - e.n AS first,
                    e.place - row_number() OVER (PARTITION BY e.lane ORDER BY e.place) AS run
                FROM (
                    SELECT v_lanes[u.shape + 1] AS lane, coalesce(u.n, 1) AS n, u.place
                    FROM unnest(jobs.shape_indexes, jobs.entry_ns) WITH ORDINALITY u (shape, n, place)
                ) e
            ) t
            GROUP BY t.lane, t.run
            HAVING sum(t.n) >= 100
        ) r;
    END IF;
    IF cardinality(jobs.edge_children) > 0 THEN
        PERFORM weft._lock_parents(bunch.batch_id, v_base, jobs.edge_parents, jobs.edge_parent_ns);
    END IF;
    -- After the parents' rows: a transaction that adds members holds job rows while it waits for a new
    -- membership.
    IF cardinality(jobs.combo_numbers) > 0 THEN
        jobs.group_ids := weft._member_groups(
            bunch.tenant_id,
            bunch.batch_id,
            coalesce(nullif(cardinality(jobs.entry_ns), 0), bunch.n_jobs),
            of_update.first_group,
            jobs.group_ids,
            jobs.combo_indexes,
            jobs.combo_numbers,
            jobs.combo_sets
        );
    END IF;
    IF cardinality(jobs.rare_jobs) > 0 THEN
        v_gate_sets := weft._job_gate_sets(bunch, v_base, jobs);
    END IF;
    IF limits IS NOT NULL THEN
        v_gate_sets := weft._limit_gate_sets(bunch, jobs, limits, v_gate_sets);
    END IF;
    IF cardinality(jobs.entry_ns) > 0 THEN
        PERFORM weft._add_arrays(bunch, v_base, jobs, v_shapes, v_lanes, v_gate_sets);
    ELSE
        v_done := weft._add_rows(bunch, v_base, jobs, v_shapes, v_lanes, v_gate_sets) IS NULL;
    END IF;
    IF 0 = ANY (jobs.edge_parent_ns) THEN
        WITH parent AS (
            UPDATE weft.job j
            SET tells_start = true
            FROM weft.edge e
            WHERE e.batch_id = bunch.batch_id
                AND e.need = NEED_START
                AND e.child_id >= bunch.first_job
                AND e.parent_id <= v_base
                AND j.batch_id = e.batch_id
                AND j.job_id = e.parent_id
            RETURNING j.job_id, j.state = STATE_RUNNING AND j.started_at IS NOT NULL AS runs
        ),
        told AS (
            UPDATE weft.edge e
            SET need = NEED_TOLD
            FROM parent p
            WHERE p.runs
                AND e.batch_id = bunch.batch_id
                AND e.need = NEED_START
                AND e.child_id >= bunch.first_job
                AND e.parent_id = p.job_id
            RETURNING e.child_id
        )
        UPDATE weft.job j
        SET n_unfinished = j.n_unfinished - t.n
        FROM (SELECT o.child_id, count(*) AS n FROM told o GROUP BY 1) t
        WHERE j.batch_id = bunch.batch_id AND j.job_id = t.child_id;
    END IF;
    IF SHARE_NEED > ANY (jobs.edge_parent_ns) THEN
        PERFORM weft._recount_parents(
            bunch.batch_id,
            ARRAY(
                SELECT DISTINCT e.child_id
                FROM weft.edge e
                WHERE e.batch_id = bunch.batch_id
                    AND e.need < 0
                    AND e.child_id BETWEEN bunch.first_job AND bunch.first_job + bunch.n_jobs - 1
            ),
            '{}'
        );
    END IF;
    v_done := weft._add_details(bunch, v_base, jobs) IS NULL;
    IF jobs.output_keep_s IS NOT NULL THEN
        INSERT INTO weft.output_term AS t (batch_id, tenant_id, keep_s, n_jobs)
        VALUES (bunch.batch_id, bunch.tenant_id, jobs.output_keep_s, bunch.n_jobs)
        ON CONFLICT (batch_id) DO UPDATE
        SET keep_s = greatest(t.keep_s, excluded.keep_s), n_jobs = t.n_jobs + excluded.n_jobs
        WHERE t.n_jobs IS NOT NULL;
    END IF;
END $$;
