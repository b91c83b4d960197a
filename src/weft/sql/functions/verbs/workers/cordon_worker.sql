-- cordon_worker: let a worker take no new job; what it has goes on.
-- Safe to repeat: yes.
-- Locks: as _cordon.
-- Returns: whether it was not cordoned.  Raises as _lock_worker.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.cordon_worker(of_name text, of_pool text, actor text, reason text)
RETURNS boolean LANGUAGE sql AS $$
    SELECT weft._cordon(of_name, of_pool, cordon_worker.actor, cordon_worker.reason, false)
$$;
