-- get_operation: the document of an operation.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF106.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_operation(tenant_id int, of_operation_id bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN weft._operation_document(weft._shown_operation(of_operation_id));
END $$;
