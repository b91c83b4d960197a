-- How often an attempt that had started may be lost before its job is an error: a setting of the driver, which writes it here.
ALTER TABLE weft.driver_state ADD COLUMN losses_max int NOT NULL DEFAULT 5;
