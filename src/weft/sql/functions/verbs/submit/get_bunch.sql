-- get_bunch: as get_bunch_v2, without rare fields. Kept for one release.
-- Called by: the api of an older program.   Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_bunch(tenant_id int, of_batch_id bigint, of_update_id int, first_position int, n_jobs int)
RETURNS TABLE (job_id int, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int, group_id int, set_ids int[], priority smallint,
    always_run boolean,
               max_attempts smallint, retry_on int, name text, attributes jsonb, parents int[], spec_first int)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT b.job_id, b.cpu_m, b.memory_mib, b.storage_mib, b.gpu, b.group_id, b.set_ids, b.priority, b.always_run, b.max_attempts,
           b.retry_on, b.name, b.attributes, b.parents, b.spec_first
    FROM weft.get_bunch_v2(get_bunch.tenant_id, of_batch_id, of_update_id, first_position, get_bunch.n_jobs) b
$$;
