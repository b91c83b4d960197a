-- Replaced by driver_state.settings.
ALTER TABLE weft.driver_state DROP COLUMN losses_max;
