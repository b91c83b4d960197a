-- _patched: the names of the fields in a merge patch, as words; keys of attributes, never values; shortened.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._patched(patch jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(
        string_agg(
            CASE
                WHEN k = 'attributes' AND jsonb_typeof(patch -> k) = 'object'
                    THEN 'attributes ' || (
                        SELECT coalesce(string_agg(format('"%s"', a), ', ' ORDER BY a), 'none')
                        FROM jsonb_object_keys(patch -> k) a
                    )
                ELSE format('%s is %s', k, patch -> k)
            END,
            '; ' ORDER BY k
        ),
        1000
    )
    FROM jsonb_object_keys(patch) k
$$;
