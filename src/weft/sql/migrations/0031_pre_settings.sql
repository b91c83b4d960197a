-- The settings that functions follow (SETTING_…), as the leading driver handed them over; a missing one has its default.
ALTER TABLE weft.driver_state ADD COLUMN settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object');
UPDATE weft.driver_state SET settings = jsonb_build_object('losses_max', losses_max);
