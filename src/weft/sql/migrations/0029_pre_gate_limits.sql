-- Who names a shared gate with another number of places leaves a note of it; whoever owns the gate's row next changes it.
ALTER TABLE weft.gate_note ADD COLUMN max_places int;
-- The most places that a gate ever had. NULL: no limit at some time, or the gate is older than this column.
ALTER TABLE weft.gate ADD COLUMN max_ever int;
