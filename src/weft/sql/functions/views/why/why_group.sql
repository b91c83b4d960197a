-- why_group: why jobs of a group wait: its document, and facts of a few jobs that stand for the others
--   (_why_facts). The group is given by number or, if that is NULL, by path or name; 0 is the batch.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF103.
-- Plan: counters as get_group; samples as _ready_samples, _blocked_samples, _claimed_sample; the first failed
--   attempts by their index.
-- Returns: `document`, of a batch as get_batch; `came`: as _came_by; `held`, `limit`: as of _why_facts;
--   `ready`: facts of ready and blocked samples; `claimed`: as _claimed_sample; `failed`: the document of a
--   failed job, or NULL.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.why_group(tenant_id int, batch_id bigint, group_id int, path text)
RETURNS jsonb LANGUAGE plpgsql PLAN_BY_INDEX PLAN_ONCE AS $$
DECLARE
    v_group int;
    v_failed int;
BEGIN
    v_group := weft._find_group(why_group.batch_id, why_group.group_id, why_group.path);
    SELECT a.job_id
    INTO v_failed
    FROM (
        SELECT x.job_id
        FROM weft.attempt x
        WHERE x.batch_id = why_group.batch_id AND x.reason IS NOT NULL
        ORDER BY x.job_id
        LIMIT 1000
    ) a
    CROSS JOIN LATERAL (
        SELECT y.state, y.group_id
        FROM weft.job y
        WHERE y.batch_id = why_group.batch_id AND y.job_id = a.job_id
        OFFSET 0
    ) j
    WHERE j.state IN (STATE_FAILED, STATE_ERROR) AND weft._is_member(why_group.batch_id, j.group_id, v_group)
    ORDER BY a.job_id
    LIMIT 1;
    RETURN (
        SELECT jsonb_build_object(
            'document', d.document
                || CASE v_group WHEN 0 THEN weft._unsent_of_batch(why_group.batch_id) ELSE '{}' END,
            'came', weft._came_by(why_group.batch_id),
            'held', weft._holds_of(why_group.batch_id, v_group, 0),
            'limit', weft._limit_of(why_group.batch_id, v_group, 0),
            'ready', (
                SELECT coalesce(jsonb_agg(w.facts ORDER BY w.job_id), '[]')
                FROM weft._why_facts(
                    why_group.batch_id,
                    ARRAY(
                        SELECT weft._ready_samples(why_group.batch_id, v_group)
                        UNION ALL
                        SELECT weft._blocked_samples(why_group.batch_id, v_group)
                    )
                ) w
            ),
            'claimed', weft._claimed_sample(why_group.batch_id, v_group),
            'failed', (
                SELECT f.document
                FROM weft._job_documents(why_group.batch_id, ARRAY[v_failed]) f
                WHERE v_failed IS NOT NULL
            )
        )
        FROM weft._group_documents(ARRAY[why_group.batch_id], ARRAY[v_group]) d
    );
END $$;
