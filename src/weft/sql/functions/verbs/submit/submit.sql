-- submit: as submit_v2, with each column as a parameter. Kept for one release.
-- Called by: the api of an older program.   Safe to repeat: as submit_v2.   Locks: as submit_v2.
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
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT * FROM weft.submit_v2(
        submit.tenant_id, submit.user_id, of_batch_id,
        jsonb_build_object('name', batch_name, 'billing_project', batch_billing_project, 'attributes', batch_attributes,
            'callback', batch_callback, 'cancel_after_n_failures', batch_cancel_after, 'gates', weft._running_gate(batch_max_running)),
        ROW(submit.group_ids, parent_ids, group_names, group_attributes, cancel_afters, callbacks, are_sets)::weft.group_columns,
        new_jobs, ROW(
            shape_cpu_ms, shape_memory_mibs, shape_storage_mibs, shape_gpus, shape_countables,
            shape_indexes, job_group_ids, priorities, always_runs, submit.max_attempts, retry_ons,
            edge_children, edge_parents, submit.edge_parent_ns, combo_indexes, combo_numbers, combo_sets,
            submit.entry_ns, submit.array_firsts, submit.array_ns, submit.array_indexes, submit.array_names, submit.array_attributes,
            label_jobs, label_names, label_attributes, NULL, NULL, chunk_firsts, chunk_ns, chunk_bodies)::weft.job_columns,
        depth_max, groups_max, submit.trace_id, submit.idempotency_key, submit.digest, submit.at)
$$;
