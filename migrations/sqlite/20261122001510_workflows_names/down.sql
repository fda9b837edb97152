DROP TABLE version_tags;
DROP TABLE process_numbers;
