-- _machine_costs: what machines cost since their costs were last counted, up to a moment, and what of it jobs used.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._machine_costs(one weft.machine, upto timestamptz)
RETURNS TABLE (machine_us bigint, used_us double precision, cost numeric, used_cost numeric) LANGUAGE sql STABLE AS $$
    SELECT t.us, t.us * (one).used_share, t.cost, t.cost * (one).used_share::numeric
    FROM (
        SELECT x.us, (one).price_per_hour * x.us / 3600000000 AS cost FROM (
            SELECT greatest(extract(epoch FROM upto - coalesce((one).costs_from, (one).created_at)) * 1000000, 0)::bigint AS us) x) t
$$;
