-- _walk_path: lead the status of a job along a path of words, as far as its lifecycle allows it.
-- Safe to repeat: no.
-- For: _after_sends, _bring_statuses, _limit_statuses, which have the job's row.
-- Locks: as _add_status_rows.
-- Plan: by key.
-- subtype, message: of the first status of the path.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._walk_path(of_job weft.job, path text[], subtype text, message text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_words text[];
    v_at smallint;
    v_next smallint;
    v_word text;
BEGIN
    SELECT l.statuses, s.status
    INTO v_words, v_at
    FROM weft.lifecycle l, weft.job_status s
    WHERE l.lifecycle_id = of_job.lifecycle_id AND s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id;
    FOREACH v_word IN ARRAY path LOOP
        v_next := array_position(v_words, v_word);
        EXIT WHEN NOT EXISTS (
            SELECT
            FROM weft.lifecycle_edge e
            WHERE e.lifecycle_id = of_job.lifecycle_id AND e.from_status = v_at AND e.to_status = v_next
        );
        PERFORM weft._add_status_rows(
            of_job, ARRAY[v_next], false, 'weft', _walk_path.subtype, _walk_path.message, clock_timestamp()
        );
        v_at := v_next;
        subtype := NULL;
        message := NULL;
    END LOOP;
END $$;
