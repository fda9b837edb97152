// A worker on @camunda8/orchestration-cluster-api, unchanged. What a job's variable `act` says is what it does; what it
// took and did, it prints, one line each: `took ACT ID`, `did ACT ID`, `refused ACT ID WORDS`.
import { setTimeout as sleep } from "node:timers/promises";
import createCamundaClient from "@camunda8/orchestration-cluster-api";

const { HEDDLE_ADDRESS, HEDDLE_TOKEN, HEDDLE_TYPE, HEDDLE_WORKER, HEDDLE_LOCK_MS, HEDDLE_LATE } = process.env;
const lock = Number(HEDDLE_LOCK_MS);
const say = (...words) => process.stdout.write(`${words.join(" ").replaceAll("\n", " ")}\n`);

const client = createCamundaClient({
  config: {
    CAMUNDA_REST_ADDRESS: HEDDLE_ADDRESS,
    CAMUNDA_AUTH_STRATEGY: "BASIC",
    CAMUNDA_BASIC_AUTH_USERNAME: "anybody",
    CAMUNDA_BASIC_AUTH_PASSWORD: HEDDLE_TOKEN,
  },
});

const values = () => ({
  text: "words",
  number: 7,
  long: 2 ** 40,
  decimal: 1.5,
  flag: true,
  nothing: null,
  list: [1, "two"],
  object: { a: { b: null } },
  by: HEDDLE_WORKER,
});

const topology = await client.getTopology();
say("topology", topology.gatewayVersion, topology.brokers.length);

client.createJobWorker({
  jobType: HEDDLE_TYPE,
  workerName: HEDDLE_WORKER,
  // Whoever outlives its lock does not take the job again.
  maxParallelJobs: HEDDLE_LATE ? 1 : 4,
  jobTimeoutMs: lock,
  pollTimeoutMs: 5000,
  pollIntervalMs: 50,
  jobHandler: async (job) => {
    const act = job.variables.act;
    const told = (word) => say(word, act, job.jobKey);
    told("took");
    try {
      switch (act) {
        case "fail":
          if (job.retries > 1) {
            const receipt = await job.fail({ errorMessage: "once", retries: 1, retryBackOff: 0 });
            told("did");
            return receipt;
          }
          break;
        case "error": {
          const error = { errorCode: "NO_FUNDS", errorMessage: "The card is empty.", variables: { reason: "empty" } };
          const receipt = await job.error(error);
          told("did");
          return receipt;
        }
        case "extend":
          await client.updateJob({ jobKey: job.jobKey, changeset: { timeout: lock * 10 } });
          await sleep(lock * 2);
          break;
        case "hang":
          if (HEDDLE_LATE) await sleep(600_000);
          break;
        case "late":
          if (HEDDLE_LATE) await sleep(lock * 3);
          break;
      }
      const receipt = await job.complete(values());
      told("did");
      return receipt;
    } catch (error) {
      say("refused", act, job.jobKey, error.message ?? error);
      return job.ignore();
    }
  },
});
