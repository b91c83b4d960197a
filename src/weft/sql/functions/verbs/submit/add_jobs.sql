-- add_jobs: as add_jobs_v2, with each column as a parameter. Kept for one release.
-- Called by: the api of an older program.   Safe to repeat: as add_jobs_v2.   Locks: as add_jobs_v2.
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
) RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.add_jobs_v2(
        add_jobs.tenant_id, add_jobs.batch_id, add_jobs.update_id, add_jobs.first_job, add_jobs.n_jobs, ROW(
            shape_cpu_ms, shape_memory_mibs, shape_storage_mibs, shape_gpus, shape_countables,
            shape_indexes, group_ids, priorities, always_runs, max_attempts, retry_ons,
            edge_children, edge_parents, edge_parent_ns, combo_indexes, combo_numbers, combo_sets,
            entry_ns, array_firsts, array_ns, array_indexes, array_names, array_attributes,
            label_jobs, label_names, label_attributes, NULL, NULL, chunk_firsts, chunk_ns, chunk_bodies)::weft.job_columns,
        add_jobs.idempotency_key, add_jobs.digest)
$$;
