-- try_lead: what a driver of the previous release calls to lead. It cannot lead on this schema, so it stands by. Kept for one release.
-- Called by: drivers of the previous release.   Safe to repeat: yes, it does nothing.
-- Returns: NULL: another driver leads.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.try_lead() RETURNS bigint LANGUAGE sql IMMUTABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT NULL::bigint
$$;
