-- What a set-up request was answered: JSON, null where nothing of its own was. It comes after the body, but a list still
-- reads no body for it: a null takes no room, and set-up requests are small.

BEGIN IMMEDIATE;

ALTER TABLE event ADD COLUMN handshake_answer TEXT;

PRAGMA user_version = 3;
COMMIT;
