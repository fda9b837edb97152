-- Payloads of errands, which count among what an organisation has stored

CREATE TRIGGER errands_counted AFTER INSERT ON errands
BEGIN
    INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
    VALUES (NEW.organization_id, x'00000000000000000000000000000000', 0, length(NEW.payload), 0)
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER errands_uncounted AFTER DELETE ON errands
BEGIN
    UPDATE stored_counts SET
        bytes = bytes - length(OLD.payload)
    WHERE organization_id = OLD.organization_id AND workflow_id = x'00000000000000000000000000000000' AND shard = 0;
END;

-- What is there already

INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
SELECT organization_id, x'00000000000000000000000000000000', 0, sum(length(payload)), 0
FROM errands WHERE true GROUP BY organization_id
ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
    bytes = bytes + excluded.bytes;
