-- _ms_between: whole milliseconds from one moment to another; the unit of usage. NULL if one of them is.
-- Called by: completions, heartbeats, audit.   Safe to repeat: yes.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._ms_between(from_at timestamptz, to_at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT (date_part('epoch', to_at - from_at) * 1000)::bigint $$;
