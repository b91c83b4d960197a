-- No tenant has a part in it: functions of the system see all.
ALTER TABLE TABLE_NAME ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON TABLE_NAME TO weft_system USING (true);
