-- register_worker: as register_worker_v2, for a worker that does not say what it offers. Kept for one release.
-- Called by: workers of an older program.   Safe to repeat: yes.   Locks: as register_worker_v2.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.register_worker(
    name text, host text, pool text, incarnation text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int, version text,
    proved_gone boolean, grace_s double precision, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (worker_id int, incarnation_id int, pool_id int) LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT * FROM weft.register_worker_v2(name, host, pool, incarnation, cpu_m, memory_mib, storage_mib, gpu, NULL, version, proved_gone,
        grace_s, at => at)
$$;
