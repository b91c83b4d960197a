-- log_places: as log_places_v2, without the place of the worker. Kept for one release.
-- Called by: an api of an older program.   Safe to repeat: yes, it only reads.   Plan: as log_places_v2.   Raises WF101.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.log_places(tenant_id int, of_batch_id bigint, job_ids int[], of_attempt smallint)
RETURNS TABLE (batch_id bigint, job_id int, attempt smallint, ended boolean, segment int, log_offset bigint, stdout_bytes bigint,
    stderr_bytes bigint,
               truncated boolean, state text, reason smallint, exit_code int, signal smallint, message text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.batch_id, p.job_id, p.attempt, p.ended, p.segment, p.log_offset, p.stdout_bytes, p.stderr_bytes, p.truncated, p.state,
        p.reason, p.exit_code, p.signal, p.message
    FROM weft.log_places_v2(tenant_id, of_batch_id, job_ids, of_attempt) p ORDER BY p.job_id
$$;
