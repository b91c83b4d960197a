-- _after_completion: record the callbacks to send for groups that have just completed.
-- Safe to repeat: yes, one delivery per completion.
-- For: _settle_groups, in the transaction that records the completions.
-- Locks: none but new rows.
-- Plan: by key; documents only of groups that have a callback.
-- The document shows the sums just folded, without what was committed since.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_completion(batch_ids bigint[], group_ids int[], at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_group int[];
    v_url text[];
BEGIN
    SELECT array_agg(k.batch_id), array_agg(k.group_id), array_agg(k.url)
    INTO v_batch, v_group, v_url
    FROM (
        SELECT g.batch_id, g.group_id, CASE WHEN g.group_id = 0 THEN b.callback ELSE g.callback END AS url
        FROM unnest(_after_completion.batch_ids, _after_completion.group_ids) t (b, g)
        JOIN weft.batch b ON b.batch_id = t.b AND b.deleted_at IS NULL
        JOIN weft.job_group g ON g.batch_id = t.b AND g.group_id = t.g
    ) k
    WHERE k.url IS NOT NULL;
    IF v_batch IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO weft.callback_delivery (
        batch_id, group_id, completion, tenant_id, url, host, body, created_at, next_at
    )
    SELECT
        c.batch_id, c.group_id, c.n_completions, c.tenant_id, t.url, weft._host_of(t.url),
        (
            CASE
                WHEN c.group_id = 0
                    THEN d.document - '{batch_id,group_id,parent_id,path,kind}'::text[]
                        || jsonb_build_object('id', d.batch_id)
                ELSE d.document
            END
        )::text,
        _after_completion.at,
        _after_completion.at
    FROM unnest(v_batch, v_group, v_url) t (b, g, url)
    JOIN weft.group_count c ON c.batch_id = t.b AND c.group_id = t.g
    JOIN weft._group_documents(v_batch, v_group, folded => true) d ON d.batch_id = t.b AND d.group_id = t.g
    ON CONFLICT (batch_id, group_id, completion) DO NOTHING;
    -- An awake driver is not told of what else there is to do, but of this.
    PERFORM pg_notify('driver', 'callback');
END $$;
