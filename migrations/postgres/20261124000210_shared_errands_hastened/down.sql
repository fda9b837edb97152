ALTER TABLE errands DROP COLUMN hastened;
