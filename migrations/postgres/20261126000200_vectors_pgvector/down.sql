DROP TABLE IF EXISTS vector_dense;
DROP TABLE vector_partitions;
