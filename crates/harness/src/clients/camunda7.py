# A worker on camunda-external-task-client-python3, unchanged. What a task's variable `act` says is what it does; what it
# took and did, it prints, one line each: `took ACT ID`, `did ACT ID`, `refused ACT ID WORDS`.
import os
import time

from camunda.external_task.external_task_worker import ExternalTaskWorker, NoExternalTaskFound

LOCK = int(os.environ["HEDDLE_LOCK_MS"])
LATE = os.environ.get("HEDDLE_LATE")
NAME = os.environ["HEDDLE_WORKER"]
last = ("?", "?")


def say(*words):
    print(" ".join(str(word).replace("\n", " ") for word in words), flush=True)


def values():
    return {
        "text": "words",
        "number": 7,
        "long": 2**40,
        "decimal": 1.5,
        "flag": True,
        "nothing": None,
        "list": [1, "two"],
        "object": {"value": '{"a":{"b":null}}', "type": "Json"},
        "date": {"value": "2030-01-02T03:04:05.006+0000", "type": "Date"},
        "bytes": {"value": "aGk=", "type": "Bytes"},
        "file": {
            "value": "aGk=",
            "type": "File",
            "valueInfo": {"filename": "note.txt", "mimetype": "text/plain", "encoding": "utf-8"},
        },
        "by": NAME,
    }


def handle(task):
    global last
    act = task.get_variable("act")
    last = (act, task.get_task_id())
    say("took", *last)
    if act == "fail" and task._context["retries"] is None:
        return task.failure("once", "more", max_retries=1, retry_timeout=0)
    if act == "error":
        return task.bpmn_error("NO_FUNDS", "The card is empty.", variables={"reason": "empty"})
    if act == "hang" and LATE:
        time.sleep(600)
    if act == "late" and LATE:
        time.sleep(LOCK * 3 / 1000)
    return task.complete(values(), {"local": 1})


worker = ExternalTaskWorker(
    worker_id=NAME,
    base_url=os.environ["HEDDLE_ADDRESS"] + "/engine-rest",
    config={
        "maxTasks": 1,
        "lockDuration": LOCK,
        "asyncResponseTimeout": 5000,
        "auth_bearer": {"access_token": os.environ["HEDDLE_TOKEN"]},
        "sleepSeconds": 1,
    },
)
while True:
    try:
        worker.fetch_and_execute([os.environ["HEDDLE_TYPE"]], handle)
        say("did", *last)
    except NoExternalTaskFound:
        pass
    except Exception as error:  # the client raises nothing narrower
        say("refused", *last, error)
        time.sleep(0.1)
