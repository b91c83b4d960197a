-- _operation_document: the document of an operation.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._operation_document(operation weft.operation) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', operation.operation_id, 'kind', operation.kind, 'batch_id', operation.batch_id,
        'state', operation.state, 'done', operation.n_done, 'total', operation.n_total,
        'error', operation.error, 'result', operation.result,
        'created_at', operation.created_at,
        'ended_at', operation.ended_at,
        'trace_id', operation.trace_id
    )
$$;
