-- _limit_kind: of what a limit is, in a word of the api.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._limit_kind(of_limit weft.spend_limit) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN of_limit.project_id IS NOT NULL THEN 'project'
        WHEN of_limit.user_id IS NOT NULL THEN 'user'
        WHEN of_limit.group_id = 0 THEN 'batch'
        ELSE 'group'
    END
$$;
