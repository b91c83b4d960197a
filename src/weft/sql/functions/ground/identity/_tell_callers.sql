-- _tell_callers: let every api forget what it knows of a user, and end their streams: minus their number.
-- Safe to repeat: yes.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._tell_callers(of_user_id int) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT pg_notify('callers', (-of_user_id)::text)
$$;
