-- What becomes of the batches of users who are removed, where the removal itself does not say it.
ALTER TABLE weft.tenant
    ADD COLUMN on_user_removal text NOT NULL DEFAULT 'finish' CHECK (on_user_removal IN ('finish', 'cancel'));
