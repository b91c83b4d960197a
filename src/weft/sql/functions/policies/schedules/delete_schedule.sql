-- delete_schedule: remove a schedule. Its batches stay.
-- Safe to repeat: a repeat raises WF115.
-- Locks: schedule; schedule_run.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.delete_schedule(tenant_id int, of_schedule_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.schedule s WHERE s.schedule_id = of_schedule_id;
    IF NOT FOUND THEN
        PERFORM weft._no_schedule(of_schedule_id);
    END IF;
END $$;
