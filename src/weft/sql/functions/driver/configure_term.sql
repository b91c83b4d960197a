-- configure_term: store the leader's settings that functions of other roles follow.
-- Called by: DriverStore.configure (driver), once when a term begins.   Safe to repeat: yes.
-- Locks: term.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.configure_term(epoch bigint, losses_max int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM weft._check_epoch(configure_term.epoch);
    UPDATE weft.driver_state d SET losses_max = configure_term.losses_max WHERE d.losses_max <> configure_term.losses_max;
END $$;
