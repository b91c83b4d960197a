-- ask_look: ask the worker outside that has an attempt for files of it. The api to which it is connected is
--   told, and passes it on.
-- Safe to repeat: no, a number is used once.
-- Locks: look.
-- Plan: the job and its incarnation by key; the questions of the last minute.
-- Returns: the incarnation that is asked; 0 if it has limit_open open questions; NULL if the attempt does not
--   run on a worker outside.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.ask_look(
    number text,
    batch_id bigint,
    job_id int,
    attempt smallint,
    question text,
    limit_open int,
    open_s double precision,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_incarnation int;
BEGIN
    SELECT j.incarnation_id
    INTO v_incarnation
    FROM weft.job j
    JOIN weft.worker_incarnation i
    USING (incarnation_id)
    WHERE j.batch_id = ask_look.batch_id
        AND j.job_id = ask_look.job_id
        AND j.attempt = ask_look.attempt
        AND j.state = STATE_RUNNING
        AND i.token_id IS NOT NULL;
    DELETE FROM weft.look k WHERE k.asked_at < ask_look.at - interval '1 minute';
    IF (
        SELECT count(*)
        FROM weft.look k
        WHERE k.incarnation_id = v_incarnation
            AND k.answer IS NULL
            AND k.asked_at > ask_look.at - open_s * interval '1 s'
    ) >= limit_open THEN
        RETURN 0;
    END IF;
    IF v_incarnation IS NOT NULL THEN
        INSERT INTO weft.look (number, incarnation_id, question, asked_at)
        VALUES (ask_look.number, v_incarnation, ask_look.question, ask_look.at);
        PERFORM pg_notify('look', v_incarnation || ':' || ask_look.number);
    END IF;
    RETURN v_incarnation;
END $$;
