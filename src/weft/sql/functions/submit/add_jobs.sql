-- add_jobs: add a bunch of jobs to an open update. They stay invisible until the commit.
-- Called by: Store.add_jobs, Store.submit (api).   Safe to repeat: yes, by (update, first job); then it returns false, or NULL if the
--   existing bunch came from another body.
-- Locks: batch (shared, only with parents in earlier updates); as _open_update; as _shape_ids; job (those parents, running ones first, then
--   in key order, shared); cascade (theirs, shared); membership (new).
-- Plan: inserts; parents by key.
-- Columns: one element stands for all jobs. Numbers: jobs, parents and groups are relative to the update, from 1; a negative parent or
--   group is the number of an existing job or group; group 0 is the root. Sets: combo_numbers and combo_sets are pairs (combination, one of
--   its sets); combo_indexes is each job's combination, 0 for none.
-- Arrays: with entry_ns the columns have one element per entry, and entry_ns is each entry's number of jobs. An edge goes from
--   edge_parent_ns jobs, the first of which is edge_parents, to all jobs of the entry that begins with edge_children (_add_arrays).
--   array_*: what the jobs of an array share.
-- Raises WF103 (group), WF201 (key used with another body), WF203 (committed), WF205 (parent does not exist), WF207 (outside the update),
--   WF208 (overlap).
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_jobs(
    tenant_id int, batch_id bigint, update_id int, first_job int, n_jobs int,
    shape_cpu_ms bigint[], shape_memory_mibs bigint[], shape_storage_mibs bigint[], shape_gpus int[], shape_countables jsonb[],
    shape_indexes int[], group_ids int[], priorities smallint[], always_runs boolean[], max_attempts smallint[], retry_ons int[],
    edge_children int[], edge_parents int[], label_jobs int[], label_names text[], label_attributes jsonb[],
    chunk_firsts int[], chunk_ns int[], chunk_bodies bytea[],
    combo_indexes int[] DEFAULT '{}', combo_numbers int[] DEFAULT '{}', combo_sets int[] DEFAULT '{}',
    idempotency_key text DEFAULT NULL, digest bytea DEFAULT NULL,
    entry_ns int[] DEFAULT '{}', edge_parent_ns int[] DEFAULT '{}',
    array_firsts int[] DEFAULT '{}', array_ns int[] DEFAULT '{}', array_indexes int[] DEFAULT '{}', array_names text[] DEFAULT '{}',
    array_attributes jsonb[] DEFAULT '{}'
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_update weft.batch_update; v_base int; v_group_base int; v_shapes int[]; v_lanes int[]; v_lane_firsts int[]; v_section_lanes int[];
    v_is_same boolean; v_wrong int; v_has_cross boolean := false;
    v_parent_count int[]; v_bad_child int[]; v_cross_child int[]; v_spec int[];
BEGIN
    PERFORM weft._as_tenant(add_jobs.tenant_id);
    IF EXISTS (SELECT FROM unnest(edge_parents) p WHERE p < 0) THEN
        -- Before any row: a commit later in this transaction takes this lock, and a cancel that holds it takes the rows.
        PERFORM pg_advisory_xact_lock_shared(add_jobs.batch_id);
    END IF;
    v_update := weft._open_update(add_jobs.batch_id, add_jobs.update_id);
    v_base := v_update.first_job - 1;
    v_group_base := v_update.first_group - 1;
    IF add_jobs.first_job < 1 OR add_jobs.n_jobs < 1 OR add_jobs.first_job + add_jobs.n_jobs - 1 > v_update.n_jobs THEN
        PERFORM weft._fail('WF207', 'the jobs do not fit into their update',
            format('Jobs %s to %s were sent, the update reserved %s.', add_jobs.first_job, add_jobs.first_job + add_jobs.n_jobs - 1,
                v_update.n_jobs),
            'Number the jobs of an update from 1 on.');
    END IF;
    IF EXISTS (SELECT FROM weft.bunch x WHERE x.batch_id = add_jobs.batch_id AND x.update_id = add_jobs.update_id
                 AND x.idempotency_key = add_jobs.idempotency_key AND x.digest <> add_jobs.digest) THEN
        PERFORM weft._fail('WF201', 'the idempotency key was used for another request',
            format('It added jobs to update %s of batch b%s from a different body.', v_update.update_id, v_update.batch_id),
            'Send the same body again, or choose a new key.');
    END IF;
    v_is_same := weft._is_same_bunch(add_jobs.batch_id, add_jobs.update_id, v_base + add_jobs.first_job, add_jobs.n_jobs, add_jobs.digest);
    IF v_is_same IS NOT NULL THEN
        RETURN CASE WHEN v_is_same THEN false END;
    END IF;
    IF v_update.committed_at IS NOT NULL THEN
        PERFORM weft._fail('WF203', format('update %s of batch b%s is committed', v_update.update_id, v_update.batch_id),
            'A committed update never changes.', 'Create a new update.');
    END IF;

    -- Groups, mapped to absolute numbers, must exist. An uncommitted group exists only for its own update, and may be removed.
    SELECT array_agg(CASE WHEN g > 0 THEN v_group_base + g ELSE -g END ORDER BY n) INTO group_ids
        FROM unnest(group_ids) WITH ORDINALITY t (g, n);
    SELECT d.g INTO v_wrong
    FROM (SELECT g, false AS is_set FROM unnest(group_ids) g UNION SELECT -s, true FROM unnest(combo_sets) s WHERE s < 0) d
    WHERE NOT EXISTS (SELECT FROM weft.job_group x LEFT JOIN weft.batch_update u ON u.batch_id = x.batch_id AND u.update_id = x.update_id
                      WHERE x.batch_id = add_jobs.batch_id AND x.group_id = d.g AND x.is_set = d.is_set
                        AND (x.update_id IS NULL OR x.update_id = add_jobs.update_id OR u.committed_at IS NOT NULL)) LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        PERFORM weft._fail('WF103', format('group %s of batch b%s does not exist', v_wrong, add_jobs.batch_id),
            'The group of a job must exist.', 'Add the group to the update before its jobs.');
    END IF;
    SELECT s.shape_ids, s.lane_ids INTO v_shapes, v_lanes
    FROM weft._shape_ids(shape_cpu_ms, shape_memory_mibs, shape_storage_mibs, shape_gpus, shape_countables) s;
    IF cardinality(shape_indexes) > 1 AND EXISTS (SELECT FROM unnest(v_lanes) l WHERE l <> v_lanes[1]) THEN
        SELECT s.firsts, s.lane_ids INTO v_lane_firsts, v_section_lanes
        FROM weft._lane_sections(ARRAY(SELECT v_lanes[t.s + 1] FROM unnest(shape_indexes) WITH ORDINALITY t (s, n) ORDER BY t.n),
            nullif(entry_ns, '{}')) s;
    ELSE
        v_lane_firsts := '{1}'; v_section_lanes := ARRAY[v_lanes[shape_indexes[1] + 1]];
    END IF;

    IF cardinality(edge_children) > 0 THEN
        -- Parents in earlier updates are locked before they are read, and a completion reads the edges after it has changed the parent's
        -- row: so exactly one of the two counts each end. If the sweep still has to settle a parent's children, it will settle ours; its
        -- row of weft.cascade is locked too, so that the sweep does not skip them. Running parents first: a report locks those, then
        -- waiting children, which may have lower numbers (lock order, ADR 8).
        PERFORM FROM (
            SELECT d.p FROM (SELECT DISTINCT -p AS p FROM unnest(edge_parents) p WHERE p <= 0) d
            LEFT JOIN LATERAL (SELECT j.state FROM weft.job j WHERE j.batch_id = add_jobs.batch_id AND j.job_id = d.p OFFSET 0) s ON true
            ORDER BY s.state IS DISTINCT FROM STATE_RUNNING, d.p) e
        CROSS JOIN LATERAL (SELECT FROM weft.job j WHERE j.batch_id = add_jobs.batch_id AND j.job_id = e.p FOR SHARE) l;
        PERFORM FROM (SELECT DISTINCT -p AS p FROM unnest(edge_parents) p WHERE p < 0 ORDER BY 1) e
        CROSS JOIN LATERAL (SELECT FROM weft.cascade c WHERE c.batch_id = add_jobs.batch_id AND c.job_id = e.p FOR SHARE) l;
        SELECT -p INTO v_wrong FROM unnest(edge_parents) p
        WHERE p <= 0 AND (-p > v_base OR NOT EXISTS (
            SELECT FROM weft.job j JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
            WHERE j.batch_id = add_jobs.batch_id AND j.job_id = -p AND u.committed_at IS NOT NULL)) LIMIT 1;
        IF v_wrong IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'WF205', MESSAGE = format('parent j%s of batch b%s does not exist', v_wrong, add_jobs.batch_id),
                DETAIL = 'A parent is a job of this update or of a committed one.',
                    HINT = 'Refer to jobs of this update by their number in it.',
                COLUMN = format('j%s', v_wrong); -- the store reads it as the error's subject
        END IF;
    END IF;

    -- After the parents' rows: a transaction that adds members holds job rows while it waits for a new membership.
    IF cardinality(combo_numbers) > 0 THEN
        group_ids := weft._member_groups(add_jobs.tenant_id, add_jobs.batch_id, coalesce(nullif(cardinality(entry_ns), 0), add_jobs.n_jobs),
                                         v_update.first_group, group_ids, combo_indexes, combo_numbers, combo_sets);
    END IF;
    IF cardinality(entry_ns) > 0 THEN
        PERFORM weft._add_arrays(
            add_jobs.tenant_id, add_jobs.batch_id, add_jobs.update_id, v_base, add_jobs.first_job, add_jobs.n_jobs, entry_ns,
            v_shapes, v_lanes, v_lane_firsts, v_section_lanes, shape_cpu_ms, shape_memory_mibs, shape_indexes, group_ids, priorities,
                always_runs, add_jobs.max_attempts, retry_ons,
            edge_children, edge_parents, edge_parent_ns, chunk_firsts, add_jobs.idempotency_key, add_jobs.digest);
        INSERT INTO weft.job_array (batch_id, first_job, tenant_id, n_jobs, first_index, name, attributes)
        SELECT add_jobs.batch_id, v_base + t.first, add_jobs.tenant_id, t.n, t.first_index, t.name, t.attributes
        FROM unnest(array_firsts, array_ns, array_indexes, array_names, array_attributes) t (first, n, first_index, name, attributes);
    ELSE
        IF cardinality(edge_children) > 0 THEN
            WITH e AS (
                SELECT DISTINCT v_base + t.c AS child, CASE WHEN t.p > 0 THEN v_base + t.p ELSE -t.p END AS parent
                    FROM unnest(edge_children, edge_parents) t (c, p)),
            ins AS (
                INSERT INTO weft.edge (batch_id, parent_id, child_id, tenant_id) SELECT add_jobs.batch_id, e.parent, e.child,
                    add_jobs.tenant_id FROM e),
            counted AS (
                SELECT e.child, count(*) FILTER (WHERE j.state IS NULL OR j.state < STATE_SUCCESS OR c.job_id IS NOT NULL) AS n,
                       coalesce(bool_or(j.state > STATE_SUCCESS AND c.job_id IS NULL), false) AS bad,
                           bool_or(e.parent <= v_base) AS is_cross
                FROM e LEFT JOIN weft.job j ON j.batch_id = add_jobs.batch_id AND j.job_id = e.parent AND e.parent <= v_base
                LEFT JOIN weft.cascade c ON c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.next_child < e.child
                GROUP BY e.child)
            SELECT array_agg(coalesce(c.n, -1) ORDER BY i), array_agg(c.child) FILTER (WHERE c.bad),
                array_agg(c.child) FILTER (WHERE c.is_cross), coalesce(bool_or(c.is_cross), false)
            INTO v_parent_count, v_bad_child, v_cross_child, v_has_cross
            FROM generate_series(v_base + add_jobs.first_job, v_base + add_jobs.first_job + add_jobs.n_jobs - 1) i LEFT
                JOIN counted c ON c.child = i;
            UPDATE weft.batch b SET has_edges = true WHERE b.batch_id = add_jobs.batch_id AND NOT b.has_edges;
        END IF;

        SELECT array_agg(v_base + c.first ORDER BY c.first, i) INTO v_spec FROM unnest(chunk_firsts, chunk_ns) c (first, n),
            generate_series(1, c.n) i;
        -- A job without parents is ready, and its range covers it unless it has a priority or always runs.
        WITH new AS (
            INSERT INTO weft.job (batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m, memory_mib, lane_id, spec_first,
                state, n_unfinished, listed, staged,
                                  bad_parent, crowded, always_run, priority, max_attempts, retry_on)
            SELECT add_jobs.batch_id, v_base + add_jobs.first_job - 1 + t.n, add_jobs.tenant_id, add_jobs.update_id,
                   coalesce(t.g, group_ids[1]),
                   v_shapes[t.s + 1], shape_cpu_ms[t.s + 1], shape_memory_mibs[t.s + 1], v_lanes[t.s + 1], t.spec_first,
                   CASE WHEN coalesce(t.np, -1) < 0 THEN STATE_READY ELSE STATE_PENDING END, greatest(coalesce(t.np, 0), 0),
                   coalesce(t.np, -1) >= 0 OR coalesce(t.priority, priorities[1]) <> 0 OR coalesce(t.always_run, always_runs[1])
                       OR (cardinality(v_section_lanes) > 1 OR v_lanes[t.s + 1] <> v_section_lanes[1])
                          AND v_lanes[t.s + 1] <> v_section_lanes[width_bucket(t.n, v_lane_firsts)],
                   v_has_cross AND v_base + add_jobs.first_job - 1 + t.n = ANY (v_cross_child),
                   v_bad_child IS NOT NULL AND v_base + add_jobs.first_job - 1 + t.n = ANY (v_bad_child), coalesce(t.np > 1000, false),
                   coalesce(t.always_run, always_runs[1]), coalesce(t.priority, priorities[1]), coalesce(t.tries, max_attempts[1]),
                       coalesce(t.retry_on, retry_ons[1])
            FROM (SELECT t.* FROM unnest(
                    CASE WHEN cardinality(shape_indexes) = add_jobs.n_jobs THEN shape_indexes
                        ELSE array_fill(shape_indexes[1], ARRAY[add_jobs.n_jobs]) END,
                    group_ids, priorities, always_runs, add_jobs.max_attempts, retry_ons, v_parent_count, v_spec)
                  WITH ORDINALITY AS t (s, g, priority, always_run, tries, retry_on, np, spec_first, n)) t
            RETURNING group_id, shape_id, state, listed),
        counts AS (
            INSERT INTO weft.bunch_count (batch_id, update_id, first_job, group_id, shape_id, tenant_id, n_pending, n_ready)
            SELECT add_jobs.batch_id, add_jobs.update_id, v_base + add_jobs.first_job, n.group_id, n.shape_id, add_jobs.tenant_id,
                   count(*) FILTER (WHERE n.state = STATE_PENDING), count(*) FILTER (WHERE n.state = STATE_READY)
            FROM new n GROUP BY n.group_id, n.shape_id)
        INSERT INTO weft.bunch (batch_id, update_id, first_job, n_jobs, tenant_id, n_ranged, n_listed, has_cross, idempotency_key, digest,
            lane_firsts, lane_ids)
        SELECT add_jobs.batch_id, add_jobs.update_id, v_base + add_jobs.first_job, add_jobs.n_jobs, add_jobs.tenant_id,
               count(*) FILTER (WHERE n.state = STATE_READY AND NOT n.listed), count(*) FILTER (WHERE n.state = STATE_READY
                   AND n.listed), v_has_cross,
               add_jobs.idempotency_key, add_jobs.digest, ARRAY(SELECT v_base + add_jobs.first_job - 1 + f FROM unnest(v_lane_firsts) f),
                   v_section_lanes
        FROM new n;
    END IF;
    INSERT INTO weft.job_label (batch_id, job_id, tenant_id, name, attributes)
    SELECT add_jobs.batch_id, v_base + t.j, add_jobs.tenant_id, t.name, t.attributes
        FROM unnest(label_jobs, label_names, label_attributes) t (j, name, attributes);
    INSERT INTO weft.job_spec (batch_id, first_job, tenant_id, n_jobs, body)
    SELECT add_jobs.batch_id, v_base + t.first, add_jobs.tenant_id, t.n, t.body FROM unnest(chunk_firsts, chunk_ns, chunk_bodies) t (first,
        n, body);
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    -- The failed block undid its settings, including the tenant.
    PERFORM weft._as_tenant(add_jobs.tenant_id);
    -- The same bunch sent twice at once is not an error.
    v_is_same := weft._is_same_bunch(add_jobs.batch_id, add_jobs.update_id, v_base + add_jobs.first_job, add_jobs.n_jobs, add_jobs.digest);
    IF v_is_same IS NOT NULL THEN
        RETURN CASE WHEN v_is_same THEN false END;
    END IF;
    PERFORM weft._fail('WF208', 'the jobs overlap with others of their update',
        format('Some of jobs %s to %s were added by another bunch.', add_jobs.first_job, add_jobs.first_job + add_jobs.n_jobs - 1),
            'Send each job of an update in one bunch.');
END $$;
