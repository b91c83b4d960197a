-- _announce_operation: let those who wait for an operation know that it went on or has ended.
-- Safe to repeat: yes.
-- Locks: as _announce.
-- kind: of the event; that of an operation on batches, which has no batch, names the operation.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._announce_operation(operation weft.operation, kind text, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, groups, trace_id, detail)
    VALUES (
        _announce_operation.at,
        operation.tenant_id,
        coalesce(operation.batch_id, 0),
        _announce_operation.kind,
        CASE
            WHEN operation.arguments ? 'group_id' THEN ARRAY[(operation.arguments ->> 'group_id')::int]
            ELSE '{}'
        END,
        operation.trace_id,
        CASE WHEN operation.batch_id IS NULL THEN jsonb_build_object('operation', operation.operation_id) END
    );
    PERFORM weft._announce();
END $$;
