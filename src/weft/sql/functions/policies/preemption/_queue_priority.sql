-- _queue_priority: the priority of the queue in which a job is; NULL: it has none, as the default queue,
--   which is below all others.
-- Plan: shape by key; queues, which are few.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._queue_priority(job weft.job) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT q.priority
    FROM weft.shape s
    JOIN weft.queue q ON q.tenant_id = job.tenant_id AND q.name = s.countables ->> 'queue'
    WHERE s.shape_id = job.shape_id
$$;
