-- overview_lines: how production lines are: their sources and sinks, and how many jobs have each status, as
--   far as the caller sees them.
-- Safe to repeat: yes, it only reads.
-- Plan: sources and sinks of the tenant, which are few; of a source up to 10,000 waiting items by
--   source_item_due_idx and the newest by key; of a sink up to 10,000 messages by
--   callback_delivery_unsent_idx; the newest 1,000 batches with a lifecycle by batch_lifecycle_idx, of which
--   up to 50,000 jobs by key.
-- Sinks are shown to who sees the tenant, and to the user whose they are; those that are removed while
--   messages have not arrived.
-- Returns: sources (with cursor, n_waiting, last_items), sinks, statuses, if asked for.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.overview_lines(tenant_id int, limit_rows int, statuses boolean) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN jsonb_build_object(
        'sources', (
            SELECT coalesce(
                jsonb_agg(
                    weft._source_document(s) || jsonb_build_object(
                        'cursor', s.cursor,
                        'n_waiting', (
                            SELECT count(*)
                            FROM (
                                SELECT
                                FROM weft.source_item i
                                WHERE i.source_id = s.source_id AND i.due_at IS NOT NULL
                                LIMIT 10000
                            ) x
                        ),
                        'last_items', (
                            SELECT coalesce(jsonb_agg(l.document ORDER BY l.n DESC), '[]')
                            FROM (
                                SELECT i.n, weft._item_document(i) AS document
                                FROM weft.source_item i
                                WHERE i.source_id = s.source_id
                                ORDER BY i.n DESC
                                LIMIT 3
                            ) l
                        )
                    ) ORDER BY s.name
                ),
                '[]'
            )
            FROM (
                SELECT x.*
                FROM weft.source x
                WHERE x.tenant_id = overview_lines.tenant_id AND x.ended_at IS NULL AND weft._sees_maker(x)
                ORDER BY x.name
                LIMIT limit_rows
            ) s
        ),
        'sinks', (
            SELECT coalesce(jsonb_agg(to_jsonb(k) - 'sink_ids' || to_jsonb(m) ORDER BY k.sink), '[]')
            FROM (
                SELECT
                    x.name AS sink,
                    (array_agg(x.setup ORDER BY x.ended_at DESC))[1] AS setup,
                    bool_and(x.ended_at IS NOT NULL) AS removed,
                    array_agg(x.sink_id) AS sink_ids
                FROM weft.sink x
                WHERE x.tenant_id = overview_lines.tenant_id
                    AND (weft._caller_id() IS NULL OR weft._caller_id() = x.user_id)
                    AND (x.ended_at IS NULL OR EXISTS (SELECT FROM weft._unsent_messages(ARRAY[x.sink_id])))
                GROUP BY x.name
                ORDER BY x.name
                LIMIT limit_rows
            ) k
            CROSS JOIN LATERAL weft._unsent_counts(k.sink_ids) m
        ),
        'statuses', (
            SELECT coalesce(
                jsonb_agg(
                    jsonb_build_object('lifecycle', c.name, 'status', c.word, 'n_jobs', c.n) ORDER BY c.name,
                    c.place,
                    c.word
                ),
                '[]'
            )
            FROM (
                SELECT k.name, k.statuses[j.status] AS word, min(j.status) AS place, count(*) AS n
                FROM (
                    SELECT b.lifecycle_id, s.status
                    FROM (
                        SELECT y.*
                        FROM (
                            SELECT x.*
                            FROM weft.batch x
                            WHERE overview_lines.statuses
                                AND x.tenant_id = overview_lines.tenant_id
                                AND x.lifecycle_id IS NOT NULL
                                AND x.deleted_at IS NULL
                            ORDER BY x.batch_id DESC
                            LIMIT 1000
                        ) y
                        WHERE weft._permission(y.batch_id, y.user_id, y.project_id) > 0
                    ) b
                    CROSS JOIN LATERAL (
                        SELECT x.status
                        FROM weft.job_status x
                        WHERE x.batch_id = b.batch_id AND x.status > 0
                        OFFSET 0
                    ) s
                    LIMIT 50000
                ) j
                JOIN weft.lifecycle k
                USING (lifecycle_id)
                GROUP BY k.name, k.statuses[j.status]
            ) c
        )
    );
END $$;
