-- Who made the signature of an event that was signed here: what a secret of the owner's has signed stays here.

BEGIN IMMEDIATE;

-- NULL: nobody here. Of what an earlier version sent or edited it isn't known.
ALTER TABLE event ADD COLUMN signed_with TEXT;

PRAGMA user_version = 7;
COMMIT;
