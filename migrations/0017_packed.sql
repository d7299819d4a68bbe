-- Header lines and bodies leave the rows of events. `raw` holds them as they came, `packed` holds older ones compressed.
-- What earlier versions stored stays in the row of its event.

BEGIN IMMEDIATE;

-- Bodies come last, so that a list never reads them. Both tables are only ever appended to, which fills their pages.
CREATE TABLE raw (
    seq     INTEGER PRIMARY KEY,
    headers BLOB NOT NULL,
    body    BLOB NOT NULL
) STRICT;
CREATE TABLE packed (
    seq        INTEGER PRIMARY KEY,
    dictionary INTEGER,                         -- null: none was used
    headers    BLOB NOT NULL,                   -- a byte that names the form, and the bytes in that form
    body       BLOB NOT NULL
) STRICT;

-- The dictionaries that were ever used. They are made from the product's own samples, and hold nothing of an event.
CREATE TABLE dictionary (
    id   INTEGER PRIMARY KEY,                   -- the first 48 bits of SHA-256 over the data
    name TEXT NOT NULL,                         -- for people
    data BLOB NOT NULL
) STRICT;

CREATE TRIGGER content_goes AFTER DELETE ON event
BEGIN
    DELETE FROM raw WHERE seq = OLD.seq;
    DELETE FROM packed WHERE seq = OLD.seq;
END;

-- Up to which event all was packed, and what that has saved: bytes before and after.
INSERT INTO meta VALUES ('packed_seq', 0), ('packed_before', 0), ('packed_after', 0);

PRAGMA user_version = 17;
COMMIT;
