-- list_notified: the jobs with open subscriptions that the next events are about, with all that the stories
--   of doors are made of.
-- Safe to repeat: yes; record_notices goes on.
-- Locks: as _check_term.
-- Plan: events by key from the position on, as list_events; their batches and subscriptions by key.
-- after_batch: NULL: by events. Else, where events were removed before they were looked at, by numbers of
--   batches after this one.
-- Returns: xid, event_id: the position after these; behind: whether there is more, now or when older writers
--   have committed; removed: go by numbers of batches first; jobs: [{door, told: _door_jobs, subscriptions:
--   [{id, url, event, keys}]}] in order, keys: events that are recorded. NULL: no subscription is open.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.list_notified(epoch bigint, after_batch bigint, limit_rows int) RETURNS jsonb
LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_xid xid8;
    v_event bigint;
    v_n int;
    v_last_xid xid8;
    v_last_event bigint;
    v_batches bigint[];
    v_removed boolean;
    v_horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
BEGIN
    PERFORM weft._check_term(list_notified.epoch);
    SELECT f.xid, f.event_id INTO v_xid, v_event FROM weft._notices_from() f;
    IF v_xid IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO weft.event_reader (reader, xid, event_id)
    VALUES ('subscriptions', v_xid, v_event)
    ON CONFLICT DO NOTHING;
    v_removed := EXISTS (SELECT FROM weft.event_floor f WHERE (f.xid, f.event_id) > (v_xid, v_event));
    IF list_notified.after_batch IS NOT NULL OR v_removed THEN
        SELECT array_agg(x.batch_id), count(*)
        INTO v_batches, v_n
        FROM (
            SELECT DISTINCT s.batch_id
            FROM weft.subscription s
            WHERE s.ended_at IS NULL AND s.batch_id > coalesce(after_batch, 0)
            ORDER BY s.batch_id
            LIMIT limit_rows
        ) x;
        SELECT f.xid, f.event_id INTO v_last_xid, v_last_event FROM weft.event_floor f;
    ELSE
        WITH next AS MATERIALIZED (
            SELECT e.xid, e.event_id, e.batch_id
            FROM weft.event e
            WHERE (e.xid, e.event_id) > (v_xid, v_event) AND e.xid < v_horizon
            ORDER BY e.xid, e.event_id
            LIMIT limit_rows
        )
        SELECT
            (SELECT count(*) FROM next),
            l.xid,
            l.event_id,
            (
                SELECT array_agg(b.batch_id ORDER BY b.first_xid, b.first_id)
                FROM (
                    SELECT n.batch_id, min(n.xid::text::bigint) AS first_xid, min(n.event_id) AS first_id
                    FROM next n
                    WHERE EXISTS (
                        SELECT FROM weft.subscription s WHERE s.batch_id = n.batch_id AND s.ended_at IS NULL
                    )
                    GROUP BY 1
                ) b
            )
        INTO v_n, v_last_xid, v_last_event, v_batches
        FROM (SELECT) one
        LEFT JOIN (SELECT n.xid, n.event_id FROM next n ORDER BY n.xid DESC, n.event_id DESC LIMIT 1) l
            ON true;
    END IF;
    RETURN jsonb_build_object(
        'xid', coalesce(v_last_xid, v_xid)::text::bigint,
        'event_id', coalesce(v_last_event, v_event),
        'behind', v_n = limit_rows OR EXISTS (SELECT FROM weft.event e WHERE e.xid >= v_horizon),
        'removed', v_removed,
        'jobs', coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'door', b.door,
                        'told', t.told,
                        'subscriptions', (
                            SELECT jsonb_agg(
                                jsonb_build_object(
                                    'id', s.subscription_id,
                                    'url', s.url,
                                    'event', s.event,
                                    'keys', coalesce(
                                        (
                                            SELECT jsonb_agg(d.event_key)
                                            FROM weft.callback_delivery d
                                            WHERE d.subscription_id = s.subscription_id
                                        ),
                                        '[]'
                                    )
                                ) ORDER BY s.subscription_id
                            )
                            FROM weft.subscription s
                            WHERE s.batch_id = b.batch_id AND s.ended_at IS NULL
                        )
                    ) ORDER BY t.n
                )
                FROM weft._door_jobs(v_batches) WITH ORDINALITY t (told, n)
                JOIN weft.batch b ON b.batch_id = (t.told ->> 'batch_id')::bigint
                    AND b.deleted_at IS NULL
                    AND b.foreign_document IS NOT NULL
            ),
            '[]'
        )
    );
END $$;
