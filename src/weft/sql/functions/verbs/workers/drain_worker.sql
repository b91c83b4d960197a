-- drain_worker: let a worker take no new job, and its process end in order when nothing runs.
-- Safe to repeat: yes.
-- Locks: as _cordon.
-- Returns: whether it was not draining.  Raises as _lock_worker.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.drain_worker(of_name text, of_pool text, actor text, reason text)
RETURNS boolean LANGUAGE sql AS $$
    SELECT weft._cordon(of_name, of_pool, drain_worker.actor, drain_worker.reason, true)
$$;
