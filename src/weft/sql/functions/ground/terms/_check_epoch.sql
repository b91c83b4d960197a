-- _check_epoch: raise WF401 unless this is the term of the leader; a driver that was asleep is refused.
-- Safe to repeat: yes.
-- For: every function of the driver, first; put in there.
-- Locks: term (its key, shared). A new term waits for the work of the old one; whether the driver sleeps may
--   change.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._check_epoch(of_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT d.epoch INTO v_epoch FROM weft.driver_state d FOR KEY SHARE;
    IF v_epoch <> of_epoch THEN
        PERFORM weft._fail(
            'WF401',
            'another driver leads',
            format('This driver has term %s, the current term is %s.', of_epoch, v_epoch),
            'Nothing was changed; this driver stands by.'
        );
    END IF;
END $$;
