-- Small bodies are compressed together, in blocks of events of one provider: most of what they have in common is then
-- stored once, and few pages are left half empty.

BEGIN IMMEDIATE;

CREATE TABLE block (
    id         INTEGER PRIMARY KEY,
    dictionary INTEGER NOT NULL,
    events     INTEGER NOT NULL,                -- how many bodies were put into it
    data       BLOB    NOT NULL                 -- a byte that names the form, and the bodies one after the other in that form
) STRICT;

-- Where in a block a body is. Without a block it is in `body`.
ALTER TABLE packed ADD COLUMN block INTEGER;
ALTER TABLE packed ADD COLUMN start INTEGER;

-- What is gone from a block. Its bytes are overwritten afterwards (`blank`), or go with the whole block.
CREATE TABLE block_gone (
    block  INTEGER NOT NULL,
    start  INTEGER NOT NULL,
    length INTEGER NOT NULL,
    blank  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (block, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX block_unclean ON block_gone (block) WHERE blank = 0;

DROP TRIGGER content_goes;
CREATE TRIGGER content_goes AFTER DELETE ON event
BEGIN
    DELETE FROM raw WHERE seq = OLD.seq;
    INSERT INTO block_gone (block, start, length)
        SELECT block, start, OLD.size FROM packed WHERE seq = OLD.seq AND block IS NOT NULL;
    DELETE FROM packed WHERE seq = OLD.seq;
END;
CREATE TRIGGER block_is_empty AFTER INSERT ON block_gone
BEGIN
    DELETE FROM block WHERE id = NEW.block AND events <= (SELECT count(*) FROM block_gone WHERE block = NEW.block);
END;
CREATE TRIGGER block_goes AFTER DELETE ON block
BEGIN
    DELETE FROM block_gone WHERE block = OLD.id;
END;

PRAGMA user_version = 22;
COMMIT;
