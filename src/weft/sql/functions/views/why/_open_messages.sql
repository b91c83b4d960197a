-- _held_messages: the first messages of a job that checks have stopped, and about which nobody has decided.
-- Safe to repeat: yes, it only reads.   Plan: messages by batch and job.   Returns: [{sink, delivery_id, error}].   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._held_messages(of_batch_id bigint, of_job_id int) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('sink', h.name, 'delivery_id', h.delivery_id, 'error', h.last_error)
        ORDER BY h.delivery_id), '[]')
    FROM (SELECT s.name, d.delivery_id, d.last_error FROM weft.callback_delivery d JOIN weft.sink s ON s.sink_id = d.sink_id
        WHERE d.batch_id = of_batch_id AND d.job_id = of_job_id AND d.held = 'held' AND d.next_at IS NULL
        ORDER BY d.delivery_id LIMIT 5) h
$$;
