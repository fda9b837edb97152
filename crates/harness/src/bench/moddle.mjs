// Reads and writes one document with bpmn-moddle over and over; rates by processor time, the best of the rounds.
import { readFileSync } from 'node:fs';
import { BpmnModdle } from 'bpmn-moddle';

const bytes = readFileSync(process.argv[2]);
const declared = /^<\?xml[^>]*encoding\s*=\s*["']([^"']+)["']/.exec(bytes.subarray(0, 256).toString('latin1'))?.[1];
const text = new TextDecoder(declared ?? 'utf-8').decode(bytes);
const moddle = new BpmnModdle();

function seconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function rate(call) {
  let best = 0;
  for (let round = 0; round < 4; round += 1) {
    const start = seconds();
    let count = 0;
    while (seconds() - start < 0.7) {
      await call();
      count += 1;
    }
    best = Math.max(best, count / (seconds() - start));
  }
  return best;
}

const { rootElement } = await moddle.fromXML(text);
console.log(`read ${await rate(() => moddle.fromXML(text))}`);
console.log(`write ${await rate(() => moddle.toXML(rootElement))}`);
