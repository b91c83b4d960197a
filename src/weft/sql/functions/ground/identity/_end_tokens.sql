-- _end_tokens: forget tokens, sessions or codes of a user with all that was made by them; each api is told.
-- Safe to repeat: yes.
-- Locks: token.
-- Plan: tokens of the user by index.
-- Returns: how many sessions have ended.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_tokens(of_user_id int, of_tokens bigint[]) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    WITH RECURSIVE ended AS (
        SELECT t.token_id
        FROM weft.token t
        WHERE t.user_id = of_user_id AND t.token_id = ANY (of_tokens)
        UNION
        SELECT t.token_id
        FROM weft.token t
        JOIN ended e ON t.made_by = e.token_id
        WHERE t.user_id = of_user_id
    ),
    gone AS (
        DELETE FROM weft.token t
        USING ended e
        WHERE t.user_id = of_user_id AND t.token_id = e.token_id
        RETURNING t.kind, pg_notify('callers', t.token_id::text)
    )
    SELECT count(*) FILTER (WHERE g.kind = 'session')
    FROM gone g
$$;
