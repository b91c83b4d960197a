-- Functions of a tenant see its rows, those of the system all.
ALTER TABLE TABLE_NAME ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON TABLE_NAME TO weft_tenant
    USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON TABLE_NAME TO weft_system USING (true);
