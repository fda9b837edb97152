DROP TRIGGER errands_counted ON errands;
DROP TRIGGER errands_uncounted ON errands;
DROP FUNCTION errands_count();
DROP FUNCTION errands_uncount();
INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, 0, -sum(octet_length(payload))
FROM errands GROUP BY organization_id
ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
    bytes = c.bytes + excluded.bytes;
