-- Whether an errand that a node is at is tried again at once when that ends without success: what held it up is over
ALTER TABLE errands ADD COLUMN hastened INTEGER NOT NULL DEFAULT 0 CHECK (hastened IN (0, 1));
