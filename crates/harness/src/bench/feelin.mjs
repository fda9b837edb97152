// Reads expressions, and evaluates them, with feelin; rates by processor time, the best of the rounds.
import { evaluate, parseExpression } from 'feelin';

const context = { a: 3, b: 6, customer: { age: 42, name: 'Bob' } };

function seconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function rate(call) {
  let best = 0;
  for (let round = 0; round < 4; round += 1) {
    const start = seconds();
    let count = 0;
    while (seconds() - start < 0.5) {
      call();
      count += 1;
    }
    best = Math.max(best, count / (seconds() - start));
  }
  return best.toFixed(0);
}

console.log(`${rate(() => parseExpression('a + b * 2 > 10'))}/s parse a + b * 2 > 10`);
for (const text of ['a + b * 2 > 10', 'customer.age >= 18 and customer.name = "Bob"', 'sum(for i in 1..100 return i)']) {
  console.log(`${rate(() => evaluate(text, context))}/s parse and evaluate ${text}`);
}
