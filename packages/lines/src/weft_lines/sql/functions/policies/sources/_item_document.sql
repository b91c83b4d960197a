-- _item_document: what readers see of an item of a source.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._item_document(i weft.source_item) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'n', i.n, 'key', i.key, 'state', i.state, 'found_at', i.found_at, 'reason', i.reason,
        'parameters', coalesce(i.parameters, '{}'),
        'series', i.series,
        'series_at', i.series_at::double precision,
        'late', i.late,
        'job', CASE WHEN i.state = 'job' THEN format('b%s.j%s', i.batch_id, i.job_id) END
    )
$$;
