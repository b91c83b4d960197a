-- What an event says that is not about jobs or groups of a batch.
ALTER TABLE weft.event ADD COLUMN detail jsonb;
