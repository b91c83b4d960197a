-- _cause_id: the number of the cause of failures that ended in the same way and said the same.
-- message: without what differs from job to job.
-- Returns: 48 bits of a digest; people see them as 12 digits of hex.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._cause_id(reason smallint, exit_code int, signal smallint, message text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || left(md5(reason || '/' || coalesce(exit_code::text, '') || '/' || coalesce(signal::text, '') || '/'
        || coalesce(message, '')), 12))::bit(48)::bigint
$$;
