-- first_answer: what a function gave the first request with an idempotency key, [value], if it changed something; no row: nothing is known.
-- That is told by another call, with an answer, in the transaction that changes it. It is known for a day.
-- Safe to repeat: yes.   Locks: repeat (old ones: those that nobody else has).   Plan: by key.
-- answer NULL: it is asked.   Raises WF201 (the key of another request).   Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.first_answer(tenant_id int, user_id int, repeat_key text, digest bytea, answer jsonb,
    at timestamptz DEFAULT clock_timestamp()) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_first weft.answered_request;
BEGIN
    PERFORM pg_advisory_xact_lock(7709, hashtext(format('%s %s', first_answer.user_id, repeat_key)));
    IF first_answer.answer IS NOT NULL THEN
        DELETE FROM weft.answered_request r WHERE (r.user_id, r.idempotency_key) IN (
            SELECT x.user_id, x.idempotency_key FROM weft.answered_request x
            WHERE x.user_id = first_answer.user_id AND x.at < first_answer.at - interval '1 day' FOR UPDATE SKIP LOCKED);
        INSERT INTO weft.answered_request (user_id, idempotency_key, tenant_id, digest, answer, at)
        VALUES (first_answer.user_id, repeat_key, first_answer.tenant_id, first_answer.digest, first_answer.answer, first_answer.at);
        RETURN;
    END IF;
    -- A statement of its own: it sees what that did for which this one has waited.
    SELECT r.* INTO v_first FROM weft.answered_request r WHERE r.user_id = first_answer.user_id AND r.idempotency_key = repeat_key;
    IF v_first.digest <> first_answer.digest THEN
        PERFORM weft._fail('WF201', 'the idempotency key was used for another request', 'It was answered, and is not forgotten yet.',
            'Send the same body again, or choose a new key.');
    END IF;
    RETURN QUERY SELECT v_first.answer WHERE v_first.answer IS NOT NULL;
END $$;
