-- end_run: note how a run of this owner has ended.
-- Safe to repeat: yes: the first end stays.
-- Locks: topic_run.
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.end_run(
    of_event_id uuid, owner text, failed boolean, error text, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE sql AS $$
    UPDATE weft.topic_run r
    SET ended_at = end_run.at, failed = end_run.failed, error = left(end_run.error, 4096)
    WHERE r.event_id = of_event_id AND r.owner = end_run.owner AND r.ended_at IS NULL
$$;
