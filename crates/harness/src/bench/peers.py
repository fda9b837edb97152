"""hnswlib and faiss on clustered unit vectors of 384 dimensions: recall@10 against the exact answer, CPU milliseconds of a
query on one thread, and CPU seconds of the build; one line each."""

import sys
import time

import faiss
import hnswlib
import numpy

COUNT = int(sys.argv[1])
DIMENSIONS = 384
QUERIES = 500
CLUSTERS = 1000

random = numpy.random.default_rng(7)
centres = random.normal(size=(CLUSTERS, DIMENSIONS)).astype("float32")


def drawn(count):
    points = centres[random.integers(0, CLUSTERS, count)] + 0.7 * random.normal(size=(count, DIMENSIONS))
    points = points.astype("float32")
    return points / numpy.linalg.norm(points, axis=1, keepdims=True)


base = drawn(COUNT)
queries = drawn(QUERIES)
faiss.omp_set_num_threads(1)
flat = faiss.IndexFlatIP(DIMENSIONS)
flat.add(base)
_, truth = flat.search(queries, 10)


def told(peer, build, search):
    search(queries[:20])
    began = time.process_time()
    found = numpy.concatenate([search(queries[at : at + 1]) for at in range(QUERIES)])
    spent = (time.process_time() - began) * 1000 / QUERIES
    recall = numpy.mean([len(set(one) & set(true)) / 10 for one, true in zip(found, truth)])
    print(f"peer={peer} recall10={recall:.4f} cpu_ms={spent:.3f} build_cpu_s={build:.1f}", flush=True)


began = time.process_time()
graph = hnswlib.Index(space="ip", dim=DIMENSIONS)
graph.init_index(max_elements=COUNT, M=16, ef_construction=128)
graph.set_num_threads(1)
graph.add_items(base)
build = time.process_time() - began
for width in (64, 128):
    graph.set_ef(width)
    told(f"hnswlib-ef{width}", build, lambda asked: graph.knn_query(asked, k=10)[0])

began = time.process_time()
index = faiss.IndexHNSWFlat(DIMENSIONS, 16, faiss.METRIC_INNER_PRODUCT)
index.hnsw.efConstruction = 128
index.add(base)
build = time.process_time() - began
index.hnsw.efSearch = 64
told("faiss-hnsw16-ef64", build, lambda asked: index.search(asked, 10)[1])
told("faiss-flat", 0.0, lambda asked: flat.search(asked, 10)[1])
