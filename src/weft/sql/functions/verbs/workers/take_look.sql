-- take_look: forget a question, and return its answer.
-- Safe to repeat: yes, then there is nothing.
-- Locks: look.
-- Plan: by key.
-- Returns: the answer; NULL if no other api got it.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.take_look(number text) RETURNS bytea LANGUAGE sql AS $$
    DELETE FROM weft.look k WHERE k.number = take_look.number RETURNING k.answer
$$;
