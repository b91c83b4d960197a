-- answer_look: what a worker outside answers, for the api that asked; it is told.
-- Safe to repeat: yes, the first one counts.
-- Locks: look.
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.answer_look(incarnation_id int, number text, answer bytea) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.look k
    SET answer = answer_look.answer
    WHERE k.number = answer_look.number
        AND k.incarnation_id = answer_look.incarnation_id
        AND k.answer IS NULL;
    IF FOUND THEN
        PERFORM pg_notify('look', ':' || answer_look.number);
    END IF;
END $$;
