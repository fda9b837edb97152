# A worker on camunda-orchestration-sdk, unchanged. What a job's variable `act` says is what it does; what it took and did,
# it prints, one line each: `took ACT ID`, `did ACT ID`, `refused ACT ID WORDS`.
import asyncio
import os

from camunda_orchestration_sdk import CamundaAsyncClient
from camunda_orchestration_sdk.models.job_activation_request import JobActivationRequest
from camunda_orchestration_sdk.models.job_changeset import JobChangeset
from camunda_orchestration_sdk.models.job_completion_request import JobCompletionRequest
from camunda_orchestration_sdk.models.job_completion_request_variables import JobCompletionRequestVariables
from camunda_orchestration_sdk.models.job_error_request import JobErrorRequest
from camunda_orchestration_sdk.models.job_error_request_variables import JobErrorRequestVariables
from camunda_orchestration_sdk.models.job_fail_request import JobFailRequest
from camunda_orchestration_sdk.models.job_update_request import JobUpdateRequest

LOCK = int(os.environ["HEDDLE_LOCK_MS"])
LATE = os.environ.get("HEDDLE_LATE")
NAME = os.environ["HEDDLE_WORKER"]


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
        "object": {"a": {"b": None}},
        "by": NAME,
    }


async def carry_out(client, job, act):
    if act == "fail" and job.retries > 1:
        data = JobFailRequest(error_message="once", retries=1, retry_back_off=0)
        return await client.fail_job(job_key=job.job_key, data=data)
    if act == "error":
        variables = JobErrorRequestVariables.from_dict({"reason": "empty"})
        data = JobErrorRequest(error_code="NO_FUNDS", error_message="The card is empty.", variables=variables)
        return await client.throw_job_error(job_key=job.job_key, data=data)
    if act == "extend":
        data = JobUpdateRequest(changeset=JobChangeset(timeout=LOCK * 10))
        await client.update_job(job_key=job.job_key, data=data)
        await asyncio.sleep(LOCK * 2 / 1000)
    if act == "hang" and LATE:
        await asyncio.sleep(600)
    if act == "late" and LATE:
        await asyncio.sleep(LOCK * 3 / 1000)
    variables = JobCompletionRequestVariables.from_dict(values())
    return await client.complete_job(job_key=job.job_key, data=JobCompletionRequest(variables=variables))


async def handle(client, job):
    act = job.variables.to_dict().get("act")
    say("took", act, job.job_key)
    try:
        await carry_out(client, job, act)
        say("did", act, job.job_key)
    except Exception as error:  # the client raises one class for each status
        say("refused", act, job.job_key, error)


async def main():
    configuration = {
        "CAMUNDA_REST_ADDRESS": os.environ["HEDDLE_ADDRESS"],
        "CAMUNDA_AUTH_STRATEGY": "BASIC",
        "CAMUNDA_BASIC_AUTH_USERNAME": "anybody",
        "CAMUNDA_BASIC_AUTH_PASSWORD": os.environ["HEDDLE_TOKEN"],
    }
    async with CamundaAsyncClient(configuration=configuration) as client:
        topology = await client.get_topology()
        say("topology", topology.gateway_version, len(topology.brokers))
        while True:
            asked = JobActivationRequest(
                type_=os.environ["HEDDLE_TYPE"],
                worker=NAME,
                timeout=LOCK,
                max_jobs_to_activate=1 if LATE else 4,
                request_timeout=5000,
            )
            found = await client.activate_jobs(data=asked)
            await asyncio.gather(*(handle(client, job) for job in found.jobs))


asyncio.run(main())
