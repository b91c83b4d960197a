-- _kept_bytes: how much of the output of an attempt counts as stored: all of it, or, if some was left out, at most 64 MiB of each stream,
--   which is what workers keep unless they are told otherwise.
-- Called by: complete_attempts, _note_late_ends.   Safe to repeat: yes.   Plan: inlined.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._kept_bytes(stdout_bytes bigint, stderr_bytes bigint, truncated boolean) RETURNS bigint LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE WHEN truncated THEN least(stdout_bytes, 67108864) + least(stderr_bytes, 67108864) ELSE stdout_bytes + stderr_bytes END
$$;
