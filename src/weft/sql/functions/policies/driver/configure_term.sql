-- configure_term: store the leader's settings that functions follow, whichever role calls them.
-- Safe to repeat: yes.
-- Locks: term.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.configure_term(epoch bigint, settings jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.driver_state d
    SET settings = configure_term.settings
    WHERE d.settings <> configure_term.settings;
END $$;
