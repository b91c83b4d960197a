-- record_request: add an entry to the trail for a request, if this transaction has changed anything (else it
--   has no number), or if the request was refused. The driver seals it soon. Several entries of one request
--   are one in the end.
-- For: Store (api), within the statement that calls the function which does what is asked, and after it;
--   Store.record_request; act_on_batch.
-- Safe to repeat: yes.
-- Locks: announcements (shared, until the commit); as _announce (if the driver sleeps).
-- request: what the entry says, by names of columns; `tenant`: the name of the tenant, if its number is not
--   known.
-- n_rows: of the answer of that function, so that it is called before; NULL: it was
--   refused.
-- Returns: false.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.record_request(request jsonb, n_rows bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_locked boolean;
BEGIN
    IF n_rows >= 0 AND pg_current_xact_id_if_assigned() IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO weft.trail_unsealed (
        request_id, tenant_id, user_id, user_name, token_id, address, trace_id, action, path, batch_id,
        refused, times, at
    )
    VALUES (
        (request ->> 'request_id')::uuid,
        coalesce(
            (request ->> 'tenant_id')::int,
            (SELECT t.tenant_id FROM weft.tenant t WHERE t.name_key = weft._name_key(request ->> 'tenant'))
        ),
        (request ->> 'user_id')::int,
        request ->> 'user_name',
        (request ->> 'token_id')::bigint,
        request ->> 'address', request ->> 'trace_id', request ->> 'action', request ->> 'path',
        coalesce(
            (request ->> 'batch_id')::bigint, nullif(current_setting('weft.made_batch', true), '')::bigint
        ),
        request ->> 'refused',
        nullif((request ->> 'times')::int, 1),
        clock_timestamp()
    );
    -- As a rule the function has announced what it did; a second time would cost as much as the entry.
    v_locked := pg_advisory_xact_lock_shared(7701, 0) IS NOT NULL;
    IF (SELECT d.waiting FROM weft.driver_state d) THEN
        PERFORM weft._announce();
    END IF;
    RETURN false;
END $$;
