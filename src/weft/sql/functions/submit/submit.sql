-- submit: create a batch with one committed update, or add such an update to a batch. One call, so a small submission waits only once.
-- Called by: Store.submit (api).   Safe to repeat: yes with an idempotency key; same key and digest give the same answer.
-- Locks: as create_update; as add_groups; as add_jobs; as commit_update.   Plan: theirs.
-- Arguments: of_batch_id NULL: a new batch; otherwise the batch_ arguments are ignored. Steps without groups or jobs (new_jobs 0) are
--   skipped.
-- Returns: what was reserved and whether it is new.  Raises what create_batch, create_update, add_groups, add_jobs, commit_update raise.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.submit(
    tenant_id int, user_id int, of_batch_id bigint, trace_id text, idempotency_key text, digest bytea,
    batch_name text, batch_billing_project text, batch_attributes jsonb, batch_callback text, batch_cancel_after int, batch_max_running int,
    group_ids int[], parent_ids int[], group_names text[], group_attributes jsonb[], cancel_afters int[], callbacks text[],
        are_sets boolean[], depth_max int, groups_max int,
    new_jobs int, shape_cpu_ms bigint[], shape_memory_mibs bigint[], shape_storage_mibs bigint[], shape_gpus int[],
        shape_countables jsonb[],
    shape_indexes int[], job_group_ids int[], priorities smallint[], always_runs boolean[], max_attempts smallint[], retry_ons int[],
    edge_children int[], edge_parents int[], label_jobs int[], label_names text[], label_attributes jsonb[],
    chunk_firsts int[], chunk_ns int[], chunk_bodies bytea[],
    combo_indexes int[], combo_numbers int[], combo_sets int[],
    entry_ns int[] DEFAULT '{}', edge_parent_ns int[] DEFAULT '{}',
    array_firsts int[] DEFAULT '{}', array_ns int[] DEFAULT '{}', array_indexes int[] DEFAULT '{}', array_names text[] DEFAULT '{}',
    array_attributes jsonb[] DEFAULT '{}', at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (batch_id bigint, update_id int, first_job int, first_group int, n_jobs int, n_groups int, committed boolean,
    is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_batch bigint := of_batch_id; v_key text := submit.idempotency_key; v_is_new boolean; v_update record;
BEGIN
    IF v_batch IS NULL THEN
        SELECT b.batch_id, b.is_new INTO v_batch, v_is_new
        FROM weft.create_batch(submit.tenant_id, submit.user_id, batch_name, batch_billing_project, batch_attributes, batch_callback,
                               batch_cancel_after, batch_max_running, submit.trace_id, v_key, submit.digest, submit.at) b;
        IF NOT v_is_new THEN
            RETURN QUERY SELECT v_batch, u.*, false FROM weft.get_update(submit.tenant_id, v_batch, 1) u;
            RETURN;
        END IF;
        v_key := NULL;  -- the batch uses it
    END IF;
    SELECT u.* INTO v_update
    FROM weft.create_update(submit.tenant_id, submit.user_id, v_batch, submit.new_jobs, cardinality(submit.group_ids), submit.trace_id,
        v_key,
                            submit.digest, groups_max, submit.at) u;
    IF NOT v_update.is_new THEN
        RETURN QUERY SELECT v_batch, v_update.update_id, v_update.first_job, v_update.first_group, v_update.n_jobs, v_update.n_groups,
                            v_update.committed, false;
        RETURN;
    END IF;
    IF cardinality(submit.group_ids) > 0 THEN
        PERFORM weft.add_groups(submit.tenant_id, v_batch, v_update.update_id, submit.group_ids, parent_ids, group_names, group_attributes,
                                cancel_afters, callbacks, depth_max, are_sets, submit.at);
    END IF;
    IF submit.new_jobs > 0 THEN
        PERFORM weft.add_jobs(
            submit.tenant_id, v_batch, v_update.update_id, 1, submit.new_jobs,
            shape_cpu_ms, shape_memory_mibs, shape_storage_mibs, shape_gpus, shape_countables,
            shape_indexes, job_group_ids, priorities, always_runs, submit.max_attempts, retry_ons,
            edge_children, edge_parents, label_jobs, label_names, label_attributes, chunk_firsts, chunk_ns, chunk_bodies,
            combo_indexes, combo_numbers, combo_sets, NULL, NULL, submit.entry_ns, submit.edge_parent_ns,
            submit.array_firsts, submit.array_ns, submit.array_indexes, submit.array_names, submit.array_attributes);
    END IF;
    RETURN QUERY SELECT v_batch, u.*, true FROM weft.commit_update(submit.tenant_id, v_batch, v_update.update_id, submit.at) u;
END $$;
