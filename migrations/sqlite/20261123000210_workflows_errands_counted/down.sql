DROP TRIGGER errands_counted;
DROP TRIGGER errands_uncounted;
UPDATE stored_counts SET bytes = bytes - (
    SELECT ifnull(sum(length(payload)), 0) FROM errands WHERE errands.organization_id = stored_counts.organization_id
)
WHERE workflow_id = x'00000000000000000000000000000000' AND shard = 0;
