-- list_cancelled: as list_to_stop, under its former name. Kept for one release.
-- Called by: workers of an older program.   Safe to repeat: yes, it only reads.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_cancelled(incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[])
RETURNS TABLE (batch_id bigint, job_id int, attempt smallint) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT * FROM weft.list_to_stop(list_cancelled.incarnation_id, batch_ids, job_ids, list_cancelled.attempts)
$$;
