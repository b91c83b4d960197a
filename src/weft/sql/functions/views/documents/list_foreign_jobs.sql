-- list_foreign_jobs: the jobs that came through a door with ids of its own: how many there are, and a page.
--   Each is seen as _own_permission says it: members of its billing project are strangers to it here.
-- Safe to repeat: yes, it only reads.
-- Locks: none.
-- Plan: one by its id; the newest as _newest_foreign, by their changes, and those in some states, as
--   _changed_foreign; counted as _foreign_total. The rest is read for the page only.
-- foreign_id: NULL: all.  states: NULL: all.  ordering: created (those that came last are first),
--   changed_last, changed_first.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_foreign_jobs(
    tenant_id int, door text, foreign_id text, states smallint[], ordering text, first_row int, limit_rows int
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[];
    v_total bigint;
BEGIN
    IF list_foreign_jobs.foreign_id IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT b.batch_id
            FROM weft.batch b
            WHERE b.tenant_id = list_foreign_jobs.tenant_id
                AND b.door = list_foreign_jobs.door
                AND b.foreign_id = list_foreign_jobs.foreign_id
                AND b.deleted_at IS NULL
                AND NOT b.hidden
                AND weft._own_permission(b.batch_id, b.user_id) > 0
                AND (
                    states IS NULL
                        OR EXISTS (
                            SELECT
                            FROM weft.job j
                            WHERE j.batch_id = b.batch_id AND j.job_id = 1 AND j.state = ANY (states)
                        )
                )
            ORDER BY b.batch_id DESC
            LIMIT limit_rows
        );
        v_total := cardinality(v_ids);
    ELSE
        v_total := weft._foreign_total(
            list_foreign_jobs.tenant_id, list_foreign_jobs.door, list_foreign_jobs.states
        );
    END IF;
    IF v_ids IS NULL AND first_row < v_total AND ordering = 'created' AND states IS NULL THEN
        v_ids := ARRAY(
            SELECT n.id
            FROM weft._newest_foreign(
                list_foreign_jobs.tenant_id, list_foreign_jobs.door, first_row + limit_rows
            ) n (id)
            ORDER BY n.id DESC
            OFFSET first_row
        );
    ELSIF v_ids IS NULL AND first_row < v_total THEN
        v_ids := ARRAY(
            SELECT c.batch_id
            FROM weft._changed_foreign(
                list_foreign_jobs.tenant_id,
                list_foreign_jobs.door,
                states,
                ordering <> 'changed_first',
                least(first_row + limit_rows, v_total)::int
            ) c
            ORDER BY
                CASE WHEN ordering = 'changed_first' THEN c.changed_at END,
                CASE WHEN ordering = 'changed_first' THEN c.batch_id END,
                c.changed_at DESC,
                c.batch_id DESC
            OFFSET first_row
            LIMIT limit_rows
        );
    END IF;
    RETURN jsonb_build_object(
        'total', v_total,
        'jobs', coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'foreign_id', b.foreign_id,
                        'foreign_trace', b.foreign_trace,
                        'batch_id', b.batch_id,
                        'created_at', b.created_at,
                        'updated_at', weft._changed_at(b.batch_id, 1),
                        'state', (SELECT s.word FROM weft.job_state s WHERE s.state = j.state),
                        'max_attempts', j.max_attempts, 'attributes', b.attributes, 'n_failed', f.n,
                        'failed_at', f.at,
                        'last_error', coalesce(
                            (
                                SELECT coalesce(
                                    nullif(a.message, ''),
                                    (
                                        SELECT r.word
                                        FROM weft.attempt_reason r
                                        WHERE r.reason = a.reason AND r.reason <> REASON_EXIT
                                    )
                                )
                                FROM weft.attempt a
                                WHERE a.batch_id = b.batch_id AND a.job_id = 1 AND a.reason IS NOT NULL
                                ORDER BY a.attempt DESC
                                LIMIT 1
                            ),
                            (weft._error_change(b.batch_id, 1)).message
                        ),
                        'next_try_at', (
                            SELECT x.next_at
                            FROM weft.blocked_job x
                            WHERE x.batch_id = b.batch_id AND x.job_id = 1
                        )
                    ) ORDER BY t.n
                )
                FROM unnest(coalesce(v_ids, '{}')) WITH ORDINALITY t (id, n)
                CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = t.id OFFSET 0) b
                CROSS JOIN LATERAL (
                    SELECT x.* FROM weft.job x WHERE x.batch_id = t.id AND x.job_id = 1 OFFSET 0
                ) j
                CROSS JOIN LATERAL (
                    SELECT count(*) AS n, (array_agg(a.ended_at ORDER BY a.attempt DESC))[:2] AS at
                    FROM weft.attempt a
                    WHERE a.batch_id = t.id
                        AND a.job_id = 1
                        AND a.reason IS NOT NULL
                        AND a.reason NOT IN (REASON_CANCELLED, REASON_PREEMPTED, REASON_LOST, REASON_BLOCKED)
                ) f
            ),
            '[]'
        )
    );
END $$;
