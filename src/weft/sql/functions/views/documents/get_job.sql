-- get_job: get_job_v2 with all parents, as programs of the previous release call it.
-- Called by: Store.get_job (api, previous release).   Safe to repeat: yes, it only reads.   Plan: as get_job_v2.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_job(tenant_id int, batch_id bigint, job_id int) RETURNS TABLE (document jsonb, spec_index int,
    spec_body bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.document - 'n_parents', v.spec_index, v.spec_body
    FROM weft.get_job_v2(get_job.tenant_id, get_job.batch_id, get_job.job_id, 2147483647, 0) v
$$;
