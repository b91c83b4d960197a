-- item_history: what became of an item of a source, the oldest first: its own states, and the statuses of the
--   jobs that it became.
-- Plan: by keys.
-- Raises WF143.
-- A status that the item had before its job is told once. Jobs that are deleted, or that the caller does not
--   see, tell nothing.
-- Returns: documents; none: no item has this key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.item_history(tenant_id int, of_name text, of_key text) RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_source weft.source;
BEGIN
    v_source := weft._seen_source(item_history.tenant_id, of_name);
    RETURN QUERY
    WITH own AS (
        SELECT c.*
        FROM weft.source_item i
        JOIN weft.source_item_change c ON c.source_id = i.source_id AND c.n = i.n
        WHERE i.source_id = v_source.source_id AND i.key = of_key
    )
    SELECT jsonb_build_object(
        'at', x.at,
        'state', x.state,
        'status', x.status,
        'actor', x.actor,
        'subtype', x.subtype,
        'message', x.message,
        'job', 'b' || x.batch_id || '.j' || x.job_id
    )
    FROM (
        SELECT
            1 AS part,
            o.change_id AS n,
            o.at,
            o.state,
            o.status,
            'source ' || of_name AS actor,
            NULL AS subtype,
            o.reason AS message,
            o.batch_id,
            o.job_id
        FROM own o
        UNION ALL
        SELECT 2, h.n, h.at, w.word, l.statuses[h.status], h.actor, h.subtype, h.message, h.batch_id, h.job_id
        FROM own o
        JOIN weft.batch b ON b.batch_id = o.batch_id AND b.deleted_at IS NULL
        JOIN weft.lifecycle l ON l.lifecycle_id = b.lifecycle_id
        JOIN weft.job_status_change h ON h.batch_id = o.batch_id AND h.job_id = o.job_id AND h.n > o.repeats
        JOIN weft.job_state w ON w.state = h.state
        WHERE o.state = 'job' AND weft._sees_batch(o.batch_id)
    ) x
    ORDER BY x.at, x.part, x.n;
END $$;
