-- Replaced by spend_limit.
ALTER TABLE weft.billing_project DROP COLUMN cost_max;
