-- _note_asked: remember a request that has let items run again, so that its repeat does not.
-- Safe to repeat: no.   Locks: source.   Plan: by key.   For: change_source, rerun_series, which have the source's row.
-- of_key NULL: nothing can be remembered.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._note_asked(of_source_id int, of_user_id int, of_key text, of_digest bytea, n_items int) RETURNS void
LANGUAGE sql AS $$
    UPDATE weft.source s
    SET asked = CASE WHEN jsonb_array_length(s.asked) < 50 THEN s.asked ELSE s.asked - 0 END
        || jsonb_build_array(jsonb_build_array(of_user_id, of_key, encode(of_digest, 'hex'), n_items))
    WHERE s.source_id = of_source_id AND of_key IS NOT NULL
$$;
