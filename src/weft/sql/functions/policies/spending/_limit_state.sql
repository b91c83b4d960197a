-- _limit_state: what a limit does, in a word of the api.
-- Safe to repeat: yes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._limit_state(stage text, on_limit text, near boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN stage = 'below' AND near THEN 'near'
        WHEN stage <> 'reached' THEN stage
        WHEN on_limit = 'pause' THEN 'paused'
        ELSE 'cancelled'
    END
$$;
