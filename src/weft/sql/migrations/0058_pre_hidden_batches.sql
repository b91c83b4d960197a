-- Batches that lists leave out.
ALTER TABLE weft.batch ADD COLUMN hidden boolean NOT NULL DEFAULT false;
