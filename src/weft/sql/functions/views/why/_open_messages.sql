-- _open_messages: the first messages of a job that are not delivered: to be sent, given up, or stopped by a
--   check.
-- Plan: messages by batch and job.
-- Returns: their documents.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._open_messages(of_batch_id bigint, of_job_id int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(h.document ORDER BY h.delivery_id), '[]')
    FROM (
        SELECT d.delivery_id, weft._message_document(d, s.name) AS document
        FROM weft.callback_delivery d
        JOIN weft.sink s ON s.sink_id = d.sink_id
        WHERE d.batch_id = of_batch_id
            AND d.job_id = of_job_id
            AND d.delivered_at IS NULL
            AND d.held IS DISTINCT FROM 'dropped'
        ORDER BY d.delivery_id
        LIMIT 5
    ) h
$$;
