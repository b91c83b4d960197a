-- _note_item: date the state that an item has now, with the status that its lifecycle has for it: of one that
--   is new the first; of one that waits what lies before ready, if it has no such that of pending; of one
--   that is cancelled or refused what such a core brings.
-- Safe to repeat: yes; a state that stays has one row.
-- For: the triggers of source_item, which have the item.
-- Locks: source_item_change.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._note_item(i weft.source_item) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_words text[];
    v_lifecycle int;
    v_last weft.source_item_change;
    v_ready smallint[];
    v_way smallint[];
    v_repeats int := 0;
    v_at timestamptz := clock_timestamp();
BEGIN
    SELECT c.*
    INTO v_last
    FROM weft.source_item_change c
    WHERE c.source_id = i.source_id AND c.n = i.n
    ORDER BY c.change_id DESC
    LIMIT 1;
    IF v_last.state = i.state THEN
        RETURN;  -- it was ready in between
    END IF;
    SELECT l.lifecycle_id, l.statuses
    INTO v_lifecycle, v_words
    FROM weft.source s
    JOIN weft.lifecycle l ON l.tenant_id = s.tenant_id AND l.name = s.lifecycle AND l.ended_at IS NULL
    WHERE s.source_id = i.source_id;
    SELECT m.way
    INTO v_ready
    FROM weft.lifecycle_move m
    WHERE m.lifecycle_id = v_lifecycle AND m.state = STATE_READY AND m.from_status = 0 AND m.within = 0;
    IF i.state IN ('cancelled', 'refused') THEN
        SELECT m.way
        INTO v_way
        FROM weft.lifecycle_move m
        WHERE m.lifecycle_id = v_lifecycle
            AND m.within = 0
            AND m.state = CASE i.state WHEN 'cancelled' THEN STATE_CANCELLED ELSE STATE_ERROR END
            AND m.from_status = coalesce(array_position(v_words, v_last.status), v_ready[1]);
    ELSIF i.state IN ('new', 'waiting') THEN
        v_way := trim_array(v_ready, 1);
        IF v_way = '{}' THEN
            SELECT m.way
            INTO v_way
            FROM weft.lifecycle_move m
            WHERE m.lifecycle_id = v_lifecycle
                AND m.state = STATE_PENDING
                AND m.from_status = 0
                AND m.within = 0;
        END IF;
        v_way := CASE i.state WHEN 'new' THEN v_way[:1] ELSE v_way END;
    ELSE
        UPDATE weft.source_item_change c
        SET batch_id = i.batch_id, job_id = i.job_id
        WHERE c.source_id = i.source_id
            AND c.n = i.n
            AND c.change_id >= (
                SELECT max(x.change_id)
                FROM weft.source_item_change x
                WHERE x.source_id = i.source_id AND x.n = i.n AND x.state = 'new'
            );
        v_at := coalesce(
            (
                SELECT h.at
                FROM weft.job_status_change h
                WHERE h.batch_id = i.batch_id AND h.job_id = i.job_id AND h.n = 1
            ),
            v_at
        );
        SELECT count(*)
        INTO v_repeats
        FROM weft.job_status_change h
        WHERE h.batch_id = i.batch_id
            AND h.job_id = i.job_id
            AND NOT EXISTS (
                SELECT
                FROM weft.job_status_change y
                JOIN weft.job j ON j.batch_id = y.batch_id AND j.job_id = y.job_id
                JOIN weft.lifecycle l ON l.lifecycle_id = j.lifecycle_id
                WHERE y.batch_id = h.batch_id
                    AND y.job_id = h.job_id
                    AND y.n <= h.n
                    AND NOT EXISTS (
                        SELECT
                        FROM weft.source_item_change c
                        WHERE c.batch_id = i.batch_id
                            AND c.job_id = i.job_id
                            AND c.status = l.statuses[y.status]
                    )
            );
    END IF;
    INSERT INTO weft.source_item_change (
        source_id, n, tenant_id, at, state, status, reason, batch_id, job_id, repeats
    )
    SELECT
        i.source_id, i.n, i.tenant_id, greatest(v_at, v_last.at), i.state,
        v_words[v_way[cardinality(v_way)]],
        i.reason, x.batch_id, x.job_id, v_repeats
    FROM (
        SELECT i.batch_id, i.job_id WHERE i.state = 'job' UNION ALL SELECT NULL, NULL WHERE i.state <> 'job'
    ) x (batch_id, job_id);
    DELETE FROM weft.source_item_change c
    WHERE c.source_id = i.source_id
        AND c.n = i.n
        AND c.change_id <= (
            SELECT x.change_id
            FROM weft.source_item_change x
            WHERE x.source_id = i.source_id AND x.n = i.n
            ORDER BY x.change_id DESC
            OFFSET 100
            LIMIT 1
        );
END $$;
