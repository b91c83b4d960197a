-- Statements of the query language run with the rights of the role that logged in.
CREATE POLICY query_rows ON TABLE_NAME FOR SELECT TO weft_api, weft_driver
    USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
GRANT SELECT ON TABLE_NAME TO weft_api, weft_driver;
