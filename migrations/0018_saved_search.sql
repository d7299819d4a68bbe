-- Searches that somebody saved under a name, in the order in which they are shown.

BEGIN IMMEDIATE;

CREATE TABLE saved_search (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    name  TEXT NOT NULL UNIQUE,
    q     TEXT NOT NULL,
    place INTEGER NOT NULL                      -- ascending, with gaps where one was removed
) STRICT;

PRAGMA user_version = 18;
COMMIT;
