-- get_payload_part: one part of a payload, and the length of the whole.
-- Plan: by key.
-- Returns: no row if there is no such part.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.get_payload_part(of_batch_id bigint, of_digest bytea, of_part int)
RETURNS TABLE (n_bytes bigint, body bytea) LANGUAGE sql STABLE AS $$
    SELECT p.n_bytes, p.body
    FROM weft.batch_payload p
    WHERE p.batch_id = of_batch_id AND p.digest = of_digest AND p.part = of_part;
$$;
