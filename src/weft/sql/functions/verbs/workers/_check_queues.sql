-- _check_queues: refuse a worker that names a queue which nobody has: it would wait for jobs in silence.
-- Plan: the small table of queues.
-- Raises WF308.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._check_queues(offers jsonb) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_missing text;
BEGIN
    SELECT min(o.name)
    INTO v_missing
    FROM jsonb_array_elements_text(CASE WHEN offers ? 'queue' THEN offers -> 'queue' ELSE '[]' END) o (name)
    WHERE NOT EXISTS (SELECT FROM weft.queue q WHERE q.name = o.name);
    IF v_missing IS NOT NULL THEN
        PERFORM weft._fail(
            'WF308',
            format('queue "%s" does not exist', v_missing),
            format('There are: %s.', (SELECT string_agg(DISTINCT q.name, ', ') FROM weft.queue q)),
            'Name one of these, or add the queue first: `weft queue apply queues.toml`.'
        );
    END IF;
END $$;
