-- First keys outlive their events. So that a repeat with other bytes is still a conflict, a key remembers the body of its
-- event once that is gone.

BEGIN IMMEDIATE;

-- The body's SHA-256. Null while the event is there.
ALTER TABLE first_key ADD COLUMN sha256 BLOB;

PRAGMA user_version = 26;
COMMIT;
