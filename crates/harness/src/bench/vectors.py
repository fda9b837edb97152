"""Peers of the index of passages: CPU time and recall over the same vectors, on one thread."""

import json
import os
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import faiss
import hnswlib
import numpy

DIMS, NEAREST = 384, 10

folder = sys.argv[1]
docs = numpy.fromfile(f"{folder}/docs.f32", dtype="<f4").reshape(-1, DIMS)
queries = numpy.fromfile(f"{folder}/queries.f32", dtype="<f4").reshape(-1, DIMS)
truth = numpy.fromfile(f"{folder}/truth.u64", dtype="<u8").reshape(-1, NEAREST)


def measure(peer, build, search):
    start = time.process_time()
    index = build()
    built = time.process_time() - start
    found = [search(index, query) for query in queries]
    right = sum(len(set(map(int, one)) & set(map(int, other))) for one, other in zip(found, truth))
    start, times = time.process_time(), 0
    while time.process_time() - start < 2:
        for query in queries:
            search(index, query)
        times += len(queries)
    spent = (time.process_time() - start) / times
    figures = {"peer": peer, "recall": right / truth.size, "ms": spent * 1e3, "build_s": built}
    print(json.dumps(figures), flush=True)


def hnsw():
    index = hnswlib.Index(space="ip", dim=DIMS)
    index.init_index(max_elements=len(docs), M=16, ef_construction=200)
    index.set_num_threads(1)
    index.add_items(docs, num_threads=1)
    index.set_ef(128)
    return index


def flat():
    index = faiss.IndexFlatIP(DIMS)
    index.add(docs)
    return index


def graph():
    index = faiss.IndexHNSWFlat(DIMS, 16, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = 200, 128
    index.add(docs)
    return index


faiss.omp_set_num_threads(1)
measure("hnswlib-ef128", hnsw, lambda index, query: index.knn_query(query, k=NEAREST, num_threads=1)[0][0])
measure("faiss-flat", flat, lambda index, query: index.search(query[None], NEAREST)[1][0])
measure("faiss-hnsw-ef128", graph, lambda index, query: index.search(query[None], NEAREST)[1][0])
