-- _silent_since: since when nothing is heard of the worker that has a running job, if what it runs goes on elsewhere.
-- Plan: by key.   Returns: NULL if something is heard of it.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._silent_since(of_incarnation_id int) RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT i.heartbeat_at FROM weft.worker_incarnation i JOIN weft.worker w USING (worker_id)
    WHERE i.incarnation_id = of_incarnation_id AND i.outlives AND weft._worker_state(w, i) = 'silent'
$$;
