-- _after_loss: what follows when an incarnation has ended and all its attempts are lost.
-- Safe to repeat: yes.
-- Locks: as _confirm_stops.
-- Plan: as _confirm_stops.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_loss(of_incarnation_id int, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._confirm_stops(of_incarnation_id, '{}', '{}', '{}', false, _after_loss.at);
END $$;
