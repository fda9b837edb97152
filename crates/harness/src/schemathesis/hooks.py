"""Adds to each operation the known-good calls of the fixtures file, so that every one shows a success."""

import json
import os

import schemathesis

with open(os.environ["HEDDLE_SCHEMATHESIS_CASES"], encoding="utf-8") as source:
    CASES = json.load(source)


@schemathesis.hook
def before_add_examples(context, examples):
    for case in CASES.get(context.operation.label, []):
        members = {
            "path_parameters": case.get("path") or {},
            "query": case.get("query") or {},
            "headers": case.get("headers") or {},
        }
        if "body" in case:
            members["body"] = case["body"]
            members["media_type"] = case.get("mediaType", "application/json")
        examples.append(context.operation.Case(**members))


CALLS = {"count": 0}


@schemathesis.hook
def before_call(context, case, kwargs):
    # A worker that waits for a job which never comes would wait longer than this client does.
    if isinstance(case.body, dict) and isinstance(case.body.get("waitMs"), int):
        case.body["waitMs"] = min(case.body["waitMs"], 200)
    # Generated preconditions and idempotency keys seldom fit and would hide what comes after them.
    CALLS["count"] += 1
    if CALLS["count"] % 4 != 0 and case.headers:
        for name in ("If-Match", "Idempotency-Key"):
            if name in case.headers:
                del case.headers[name]
