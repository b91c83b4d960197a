-- first_answer: what a function gave the first request with an idempotency key, [value], if it changed
--   something; no row: nothing is known.
-- That is told by another call, with an answer, in the transaction that changes it. It is known for a day
--   (remove_old).
-- Safe to repeat: yes.
-- Locks: repeat.
-- Plan: by key.
-- answer NULL: it is asked.
-- Raises WF201 (the key of another request).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.first_answer(
    tenant_id int,
    user_id int,
    repeat_key text,
    digest bytea,
    answer jsonb,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_first weft.answered_request;
BEGIN
    PERFORM pg_advisory_xact_lock(7709, hashtext(format('%s %s', first_answer.user_id, repeat_key)));
    IF first_answer.answer IS NOT NULL THEN
        INSERT INTO weft.answered_request (user_id, idempotency_key, tenant_id, digest, answer, at)
        VALUES (
            first_answer.user_id,
            repeat_key,
            first_answer.tenant_id,
            first_answer.digest,
            first_answer.answer,
            first_answer.at
        )
        ON CONFLICT ON CONSTRAINT answered_request_pkey DO UPDATE
        SET digest = excluded.digest, answer = excluded.answer, at = excluded.at;
        RETURN;
    END IF;
    -- A statement of its own: it sees what that did for which this one has waited.
    SELECT r.*
    INTO v_first
    FROM weft.answered_request r
    WHERE r.user_id = first_answer.user_id
        AND r.idempotency_key = repeat_key
        AND r.at >= first_answer.at - interval '1 day';
    IF v_first.digest <> first_answer.digest THEN
        PERFORM weft._fail(
            'WF201',
            'the idempotency key was used for another request',
            'It was answered, and is not forgotten yet.',
            'Send the same body again, or choose a new key.'
        );
    END IF;
    RETURN QUERY SELECT v_first.answer WHERE v_first.answer IS NOT NULL;
END $$;
