-- _end_surplus_sessions: end the sessions of a user that have expired, and the oldest ones beyond
--   sessions_max, with what was made by them.
-- Safe to repeat: yes.
-- For: open_issuer_session, open_session, which have the user locked.
-- Locks: as _end_tokens.
-- Plan: tokens of the user by index.
-- of_session: the one that has just been opened, which stays.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_surplus_sessions(
    of_user_id int, of_session bigint, sessions_max int, at timestamptz
) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT weft._end_tokens(
        of_user_id,
        ARRAY(
            SELECT t.token_id
            FROM weft.token t
            WHERE t.user_id = of_user_id
                AND t.kind = 'session'
                AND t.token_id <> of_session
                AND (
                    t.expires_at <= _end_surplus_sessions.at
                        OR t.token_id <= (
                            SELECT o.token_id
                            FROM weft.token o
                            WHERE o.user_id = of_user_id AND o.kind = 'session'
                            ORDER BY o.token_id DESC
                            OFFSET sessions_max
                            LIMIT 1
                        )
                )
        )
    )
$$;
