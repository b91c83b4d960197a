-- decide_items: store what becomes of items that an api has taken. Those that are ready are a new set, whose
--   jobs it submits now.
-- Safe to repeat: yes; a repeat begins another set.
-- Locks: source; as _record_submitted; source_item.
-- Plan: by key.
-- reruns: what was decided after an item that comes late in its series is decided again (_late_items).
-- decisions: [{n, state, document, reason, due_in_s, parameters}]; document: of the job, if ready.
-- at: its day is that of the batch.
-- Returns: bunch, batch_id (NULL: a new batch), batch_day; how many items came late, and how many run again.
--   No row: nothing is ready; or the source was taken again, or stopped, and nothing is stored.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.decide_items(
    tenant_id int,
    of_source_id int,
    taking bigint,
    decisions jsonb,
    reruns boolean,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (bunch int, batch_id bigint, batch_day date, n_late int, n_again int) LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
    v_day date := (decide_items.at AT TIME ZONE 'UTC')::date;
    v_batch bigint;
    v_new bigint[];
    v_late record;
BEGIN
    v_source := weft._taken_source(of_source_id, taking);
    IF v_source.source_id IS NULL OR v_source.next_at IS NULL THEN
        RETURN;
    END IF;
    PERFORM weft._record_submitted(v_source);
    v_new := ARRAY(
        SELECT i.n
        FROM weft.source_item i
        JOIN jsonb_to_recordset(decisions) d (n bigint, state text) ON d.n = i.n
        WHERE i.source_id = of_source_id
            AND d.state = 'ready'
            AND i.state IN ('new', 'waiting')
            AND i.series IS NOT NULL
    );
    UPDATE weft.source_item i
    SET
        state = d.state,
        document = CASE WHEN d.state = 'ready' THEN d.document END,
        reason = left(d.reason, 1024),
        parameters = coalesce(d.parameters, i.parameters),
        due_at = CASE
            WHEN d.state = 'waiting' THEN decide_items.at + coalesce(d.due_in_s, 0) * interval '1 second'
        END
    FROM jsonb_to_recordset(decisions) d (
        n bigint, state text, document jsonb, reason text, due_in_s double precision, parameters jsonb
    )
    WHERE i.source_id = of_source_id AND i.n = d.n AND i.state IN ('new', 'waiting', 'ready');
    IF NOT EXISTS (SELECT FROM weft.source_item i WHERE i.source_id = of_source_id AND i.state = 'ready') THEN
        RETURN;
    END IF;
    SELECT l.* INTO v_late FROM weft._late_items(of_source_id, v_new, reruns, decide_items.at) l;
    SELECT b.batch_id
    INTO v_batch
    FROM weft.batch b
    WHERE b.batch_id = v_source.batch_id
        AND v_source.batch_day = v_day
        AND b.deleted_at IS NULL
        AND NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b.batch_id AND c.group_id = 0);
    UPDATE weft.source s
    SET bunch = s.bunch + 1, batch_id = v_batch, batch_day = v_day
    WHERE s.source_id = of_source_id;
    RETURN QUERY SELECT v_source.bunch + 1, v_batch, v_day, v_late.n_late, v_late.n_again;
END $$;
