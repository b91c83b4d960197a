-- begin_run: a record of a topic asks for a run: it is the owner's from now on, unless it has ended or
--   another incarnation that lives has it. One whose owner has ended before it is run again.
-- Safe to repeat: yes: what an owner has stays its own.
-- Locks: topic_run (SKIP LOCKED); topic_run (one row).
-- Plan: by key; a few old ones by date; the owner by its name.
-- keep_s: what began longer ago is forgotten.
-- Returns: run; running: another has it; success; failure, with its error.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.begin_run(
    of_event_id uuid, owner text, keep_s double precision, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (answer text, error text) LANGUAGE plpgsql AS $$
DECLARE
    v_run weft.topic_run;
BEGIN
    DELETE FROM weft.topic_run r
    USING (
        SELECT x.event_id
        FROM weft.topic_run x
        WHERE x.begun_at < begin_run.at - begin_run.keep_s * interval '1 second' AND x.event_id <> of_event_id
        ORDER BY x.begun_at
        LIMIT 10
        FOR UPDATE SKIP LOCKED
    ) old
    WHERE r.event_id = old.event_id;
    INSERT INTO weft.topic_run (event_id, owner, begun_at)
    VALUES (of_event_id, begin_run.owner, begin_run.at)
    ON CONFLICT DO NOTHING;
    SELECT r.* INTO v_run FROM weft.topic_run r WHERE r.event_id = of_event_id FOR UPDATE;
    IF v_run.ended_at IS NULL
        AND v_run.owner <> begin_run.owner
        AND NOT EXISTS (
            SELECT FROM weft.worker_incarnation i WHERE i.name = v_run.owner AND i.ended_at IS NULL
        )
    THEN
        UPDATE weft.topic_run r
        SET owner = begin_run.owner, begun_at = begin_run.at
        WHERE r.event_id = of_event_id;
        v_run.owner := begin_run.owner;
    END IF;
    RETURN QUERY
    SELECT
        CASE
            WHEN v_run.ended_at IS NOT NULL THEN CASE WHEN v_run.failed THEN 'failure' ELSE 'success' END
            WHEN v_run.owner = begin_run.owner THEN 'run'
            ELSE 'running'
        END,
        v_run.error;
END $$;
