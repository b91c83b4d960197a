-- read_look: what a worker outside is asked.
-- Plan: by key.
-- Returns: the question; NULL if nobody waits for its answer any more.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.read_look(incarnation_id int, number text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT k.question
    FROM weft.look k
    WHERE k.number = read_look.number AND k.incarnation_id = read_look.incarnation_id
$$;
