// A worker on camunda-external-task-client-js, unchanged. What a task's variable `act` says is what it does; what it
// took and did, it prints, one line each: `took ACT ID`, `did ACT ID`, `refused ACT ID WORDS`.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BasicAuthInterceptor, Client, File, Variables } from "camunda-external-task-client-js";

const { HEDDLE_ADDRESS, HEDDLE_TOKEN, HEDDLE_TYPE, HEDDLE_WORKER, HEDDLE_LOCK_MS, HEDDLE_LATE } = process.env;
const lock = Number(HEDDLE_LOCK_MS);
const say = (...words) => process.stdout.write(`${words.join(" ").replaceAll("\n", " ")}\n`);

const client = new Client({
  baseUrl: `${HEDDLE_ADDRESS}/engine-rest`,
  workerId: HEDDLE_WORKER,
  maxTasks: 4,
  // Whoever outlives its lock does not take the task again.
  maxParallelExecutions: HEDDLE_LATE ? 1 : 4,
  lockDuration: lock,
  asyncResponseTimeout: 5000,
  interval: 50,
  interceptors: new BasicAuthInterceptor({ username: "anybody", password: HEDDLE_TOKEN }),
});

async function values() {
  writeFileSync("note.txt", "hi");
  const file = await new File({ localPath: "note.txt", mimetype: "text/plain", encoding: "utf-8" }).load();
  const given = new Variables();
  given.setAll({ text: "words", number: 7, decimal: 1.5, flag: true, list: [1, "two"], object: { a: { b: null } } });
  given.set("long", 2 ** 40);
  given.set("nothing", null);
  given.set("date", new Date("2030-01-02T03:04:05.006Z"));
  given.setTyped("bytes", { type: "bytes", value: "aGk=", valueInfo: {} });
  given.setTyped("file", { type: "file", value: file, valueInfo: {} });
  given.set("by", HEDDLE_WORKER);
  return given;
}

client.subscribe(HEDDLE_TYPE, async ({ task, taskService }) => {
  const act = task.variables.get("act");
  const told = (word) => say(word, act, task.id);
  told("took");
  try {
    switch (act) {
      case "fail":
        if (task.retries === null) {
          await taskService.handleFailure(task, { errorMessage: "once", errorDetails: "more", retries: 1, retryTimeout: 0 });
          return told("did");
        }
        break;
      case "error":
        await taskService.handleBpmnError(task, "NO_FUNDS", "The card is empty.", new Variables().set("reason", "empty"));
        return told("did");
      case "extend":
        await taskService.extendLock(task, lock * 10);
        await sleep(lock * 2);
        break;
      case "hang":
        if (HEDDLE_LATE) return await sleep(600_000);
        break;
      case "late":
        if (HEDDLE_LATE) await sleep(lock * 3);
        break;
    }
    await taskService.complete(task, await values(), new Variables().set("local", 1));
    told("did");
  } catch (error) {
    say("refused", act, task.id, error.message);
  }
});
client.on("poll:error", (error) => say("trouble", "poll", HEDDLE_WORKER, error.message));
