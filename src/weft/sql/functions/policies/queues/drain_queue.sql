-- drain_queue: let a queue take no more jobs. Those that wait there run on.
-- Safe to repeat: yes.
-- Locks: queue (that of `default` first, so that a save of all queues comes before or after).
-- Plan: the queue by its name.
-- Returns: whether there is such a queue.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.drain_queue(tenant_id int, name text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM weft.queue q WHERE q.tenant_id = drain_queue.tenant_id AND q.name = 'default' FOR UPDATE;
    UPDATE weft.queue q
    SET state = 'draining'
    WHERE q.tenant_id = drain_queue.tenant_id AND q.name = drain_queue.name;
    IF FOUND THEN
        PERFORM pg_notify('queues', drain_queue.tenant_id::text);  -- every api remembers them
    END IF;
    RETURN FOUND;
END $$;
