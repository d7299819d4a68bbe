-- What the sender of an event was answered: the status, 0 where a channel answered before us; and how long after the
-- request was there, in microseconds. Null where a relay answered, where nobody asked, or where it isn't known. Lists
-- don't read it. What is known only after the event was stored has a table of its own, because a longer row would be
-- written anew, with its body.

BEGIN IMMEDIATE;

ALTER TABLE event ADD COLUMN answered INTEGER;
ALTER TABLE event ADD COLUMN answered_after INTEGER;

CREATE TABLE late_answer (
    event INTEGER PRIMARY KEY,
    answered INTEGER NOT NULL,
    answered_after INTEGER NOT NULL
);

PRAGMA user_version = 14;
COMMIT;
