// The official client of OpenAI for JavaScript against the gateway: one line of JSON for each thing that it does.

import assert from "node:assert/strict";
import OpenAI from "openai";

const { GATEWAY_URL, GATEWAY_TOKEN, GATEWAY_CHAT: model, GATEWAY_EMBED: embed } = process.env;
const client = new OpenAI({ baseURL: `${GATEWAY_URL}/v1`, apiKey: GATEWAY_TOKEN, maxRetries: 0 });
const messages = [{ role: "user", content: "What is the weather in Paris?" }];
const tools = [{
  type: "function",
  function: {
    name: "get_weather",
    description: "Get the current weather for a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}];

const checks = {
  async js_models() {
    const names = [];
    for await (const one of client.models.list()) names.push(one.id);
    assert(names.includes(model) && names.includes(embed), names.join());
    return `${names.length} models`;
  },
  async js_chat() {
    const answer = await client.chat.completions.create({ model, messages });
    assert(answer.choices[0].message.content);
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
    return answer.choices[0].finish_reason;
  },
  async js_stream() {
    let text = "", finish = null;
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      text += chunk.choices[0]?.delta?.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    assert(text && finish === "stop", finish);
    return `${text.length} letters`;
  },
  async js_stream_given_up() {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const _ of stream) { stream.controller.abort(); break; }
    return "given up";
  },
  async js_tools() {
    const answer = await client.chat.completions.create({ model, messages, tools });
    const call = answer.choices[0].message.tool_calls[0];
    assert("city" in JSON.parse(call.function.arguments));
    return call.function.arguments;
  },
  async js_embeddings() {
    const answer = await client.embeddings.create({ model: embed, input: ["one", "two"] });
    assert.deepEqual(answer.data.map((item) => item.index), [0, 1]);
    return `${answer.data[0].embedding.length} numbers`;
  },
  async js_errors() {
    await assert.rejects(client.chat.completions.create({ model: "nobody-has-this", messages }),
      (error) => error instanceof OpenAI.APIError && [403, 404].includes(error.status));
    return "APIError";
  },
};

for (const [name, check] of Object.entries(checks)) {
  try {
    console.log(JSON.stringify({ name, ok: true, detail: String(await check()) }));
  } catch (error) {
    console.log(JSON.stringify({ name, ok: false, detail: String(error.stack ?? error).slice(0, 400) }));
  }
}
