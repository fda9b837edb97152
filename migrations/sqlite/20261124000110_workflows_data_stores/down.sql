DROP TABLE data_stores;
