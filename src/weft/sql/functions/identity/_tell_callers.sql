-- _tell_callers: let every api forget what it knows of a user: by the numbers of their tokens, and by minus their own, for the tokens of
--   others that vouch for them.
-- Called by: admit_user, set_user_role, remove_user.   Safe to repeat: yes.   Plan: tokens of the user by index.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._tell_callers(of_user_id int) RETURNS void LANGUAGE sql VOLATILE
AS $$
    SELECT pg_notify('callers', t.token_id::text) FROM weft.token t WHERE t.user_id = of_user_id;
    SELECT pg_notify('callers', (-of_user_id)::text);
$$;
