DROP TABLE vector_partitions;
