-- What the sender of an event was answered: the status, 0 where a channel answered before us; and how long after the
-- request was there, in microseconds. Null where a relay answered, where nobody asked, or where it isn't known. Lists
-- don't read it.

BEGIN IMMEDIATE;

ALTER TABLE event ADD COLUMN answered INTEGER;
ALTER TABLE event ADD COLUMN answered_after INTEGER;

PRAGMA user_version = 14;
COMMIT;
