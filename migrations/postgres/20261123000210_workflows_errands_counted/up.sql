-- Payloads of errands, which count among what an organisation has stored

CREATE FUNCTION errands_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, sum(octet_length(payload))
    FROM new_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER errands_counted AFTER INSERT ON errands REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION errands_count();

CREATE FUNCTION errands_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, -sum(octet_length(payload))
    FROM old_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER errands_uncounted AFTER DELETE ON errands REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION errands_uncount();

-- What is there already

INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, 0, sum(octet_length(payload))
FROM errands GROUP BY organization_id
ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
    bytes = c.bytes + excluded.bytes;
