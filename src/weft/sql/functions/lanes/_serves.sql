-- _serves: whether a worker with these offers can ever run a job with these requests: it offers enough of each amount, and each word.
-- A worker that names no queues serves all of its pool; otherwise a job that names no queue asks for `default`.
-- Called by: _serve_lanes, _lane_ids, the audit.   Safe to repeat: yes, it only computes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._serves(offers jsonb, asks jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
AS $$
    SELECT (NOT offers ? 'queue' OR offers -> 'queue' @> coalesce(asks -> 'queue', '"default"')) AND NOT EXISTS (
        SELECT FROM jsonb_each(asks) a
        WHERE a.key <> 'queue' AND NOT coalesce(CASE jsonb_typeof(a.value)
            WHEN 'number' THEN jsonb_typeof(offers -> a.key) = 'number' AND offers -> a.key >= a.value
            ELSE offers -> a.key @> a.value END, false))
$$;
