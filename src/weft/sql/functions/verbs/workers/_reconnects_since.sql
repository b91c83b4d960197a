-- _reconnects_since: since when nothing is heard of the linked worker that has a running job, which should have beaten by now.
-- Plan: by key.   Returns: NULL if something is heard of it, or it is not linked.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._reconnects_since(of_incarnation_id int) RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT i.heartbeat_at FROM weft.worker_incarnation i
    WHERE i.incarnation_id = of_incarnation_id AND i.token_id IS NOT NULL AND NOT i.outlives AND i.ended_at IS NULL
      AND i.heartbeat_at < clock_timestamp() - 1.2 * SETTING_HEARTBEAT_S * interval '1 second'
$$;
