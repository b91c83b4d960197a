-- What becomes of the batches of users who are removed, where the removal itself does not say it.
ALTER TABLE weft.tenant
    ADD COLUMN on_user_removal text NOT NULL DEFAULT 'finish' CHECK (on_user_removal IN ('finish', 'cancel'));

-- Earlier releases took a soft limit above the limit, which did nothing: it becomes the limit, so that the limit can be raised.
UPDATE weft.spend_limit SET amount_soft_max = amount_max WHERE amount_soft_max > amount_max;
