-- _shown_detail: the detail of an event as the caller of this transaction may read it. That of a condition
--   names the batches that it was about, which nobody reads, with the jobs of each: those of batches that the
--   caller sees are counted.
-- Plan: these batches by key.
-- Returns: NULL: there is none, or none of these batches is seen.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shown_detail(of_kind text, of_detail jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_n bigint;
BEGIN
    IF of_kind NOT LIKE 'condition.%' THEN
        RETURN of_detail;
    ELSIF weft._caller_id() IS NULL THEN
        RETURN of_detail - 'batches';
    END IF;
    SELECT sum(b.value::bigint)
    INTO v_n
    FROM jsonb_each_text(of_detail -> 'batches') b
    WHERE weft._sees_batch(b.key::bigint);
    RETURN CASE
        WHEN v_n IS NOT NULL
            THEN of_detail - 'batches'
                || CASE WHEN of_detail ? 'n_jobs' THEN jsonb_build_object('n_jobs', v_n) ELSE '{}' END
    END;
END $$;
