-- _sinks_of: the sinks that a new batch gets by these names: one as a text, or several.
-- Plan: by key.   Raises WF151.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sinks_of(of_tenant_id int, names jsonb) RETURNS int[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(weft._sink_of(of_tenant_id, x.name) ORDER BY x.n)
    FROM jsonb_array_elements_text(CASE jsonb_typeof(names) WHEN 'array' THEN names ELSE jsonb_build_array(names) END)
        WITH ORDINALITY x (name, n)
$$;
