-- heartbeat_v2: as heartbeat, and whether the worker shall end when nothing runs there, and whether it is kept for a job that waits.
-- Called by: Store.heartbeat (worker agent).   Safe to repeat: yes.   Locks: as heartbeat.
-- Plan: as heartbeat; incarnation, reservation and its job by key.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.heartbeat_v2(incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], draining boolean,
    claiming boolean DEFAULT false, heard bigint[] DEFAULT '{}')
RETURNS TABLE (alive boolean, has_work boolean, stop_batch_ids bigint[], stop_job_ids int[], stop_attempts smallint[], drains boolean,
    kept boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT h.*, EXISTS (
        SELECT FROM weft.worker_incarnation i JOIN weft.worker w USING (worker_id)
        WHERE i.incarnation_id = heartbeat_v2.incarnation_id AND i.cordoned AND w.draining), EXISTS (
        SELECT FROM weft.reservation r CROSS JOIN LATERAL (
            SELECT y.state FROM weft.job y WHERE y.batch_id = r.batch_id AND y.job_id = r.job_id OFFSET 0) j
        WHERE r.incarnation_id = heartbeat_v2.incarnation_id AND j.state IN (STATE_READY, STATE_CREATING))
    FROM weft.heartbeat(heartbeat_v2.incarnation_id, batch_ids, job_ids, heartbeat_v2.attempts, heartbeat_v2.draining, claiming, heard) h
$$;
