-- The name that a request was called by, where it was withheld because that is none of this machine's: a web page that
-- was rebound to us calls us so. Null elsewhere, so lists read no body for it.

BEGIN IMMEDIATE;

ALTER TABLE event ADD COLUMN foreign_host TEXT;
CREATE INDEX event_foreign_host ON event (source, foreign_host, seq) WHERE foreign_host IS NOT NULL;

PRAGMA user_version = 6;
COMMIT;
