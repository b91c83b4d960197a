-- _asked_before: how many items a request with this idempotency key has let run again; NULL: none had it, of the last 50.
-- Safe to repeat: yes, it only reads.   For: change_source, rerun_series, which have the source's row.
-- Raises WF201 if the key was used for another request.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._asked_before(of_source weft.source, of_user_id int, of_key text, of_digest bytea) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_old jsonb;
BEGIN
    SELECT x INTO v_old FROM jsonb_array_elements(of_source.asked) x WHERE x -> 0 = to_jsonb(of_user_id) AND x ->> 1 = of_key;
    IF v_old ->> 2 <> encode(of_digest, 'hex') THEN
        PERFORM weft._fail('WF201', 'the idempotency key was used for another request',
            format('It let %s items of source "%s" run again.', v_old ->> 3, of_source.name),
            'Send the same body again, or choose a new key.');
    END IF;
    RETURN v_old ->> 3;
END $$;
