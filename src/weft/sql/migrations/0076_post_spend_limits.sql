-- Replaced by spend_limit and by the key that says whose hold it is.
ALTER TABLE weft.billing_project DROP COLUMN cost_max;
ALTER TABLE weft.group_hold DROP CONSTRAINT group_hold_pkey;
ALTER TABLE weft.group_hold ADD CONSTRAINT group_hold_pkey PRIMARY KEY USING INDEX group_hold_key_idx;
