// Runs the official npm clients of Anthropic and OpenAI against a model gateway
// whose model answers by what the last message of the user says, and prints a
// line of JSON for each case. Usage: node check.mjs URL
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const url = process.argv[2];
const anthropic = new Anthropic({ apiKey: "choir", baseURL: `${url}/anthropic` });
const openai = new OpenAI({ apiKey: "choir", baseURL: `${url}/openai/v1` });
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

// What the model answers to "tools", in the words of each API.
const THOUGHT = "Let me see.";
const SAID = "I read both.";
const CALLS = [
  ["call_c", { path: "c" }],
  ["call_d", { path: "d \u00e9 \"quoted\"" }],
];

const user = (content) => ({ role: "user", content });
const ask = (text, more) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 4000,
  messages: [user(text)],
  ...more,
});
const chat = (text, more) => ({ model: "gpt-5", messages: [user(text)], ...more });
const respond = (text, more) => ({ model: "gpt-5", input: text, ...more });
const claudeTools = [{ name: "read_file", description: "Reads.", input_schema: schema }];
const chatTools = [{ type: "function", function: { name: "read_file", description: "Reads.", parameters: schema } }];
const responseTools = [{ type: "function", name: "read_file", description: "Reads.", parameters: schema, strict: false }];

const cases = {};

// ---- Anthropic ----

cases["anthropic: a whole answer"] = async () => {
  const m = await anthropic.messages.create(ask("hello"));
  assert.equal(m.type, "message");
  assert.equal(m.role, "assistant");
  assert.deepEqual(m.content, [{ type: "text", text: "Hello, world." }]);
  assert.equal(m.stop_reason, "end_turn");
  assert.equal(m.stop_sequence, null);
  assert.equal(m.usage.input_tokens, 40);
  assert.equal(m.usage.cache_read_input_tokens, 60);
  assert.equal(m.usage.cache_creation_input_tokens, 0);
  assert.equal(m.usage.output_tokens, 20);
  assert.ok(m._request_id, "the answer names no request");
};

cases["anthropic: a stream in pieces"] = async () => {
  const pieces = [];
  const stream = anthropic.messages.stream(ask("hello")).on("text", (t) => pieces.push(t));
  assert.equal(await stream.finalText(), "Hello, world.");
  assert.ok(pieces.length > 1, `one piece: ${pieces}`);
  const m = await stream.finalMessage();
  assert.equal(m.stop_reason, "end_turn");
  assert.equal(m.usage.input_tokens, 40);
  assert.equal(m.usage.output_tokens, 20);
  assert.ok(stream.request_id, "the stream names no request");
};

function checkClaude(m) {
  assert.equal(m.stop_reason, "tool_use");
  assert.deepEqual(m.content.map((b) => b.type), ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
  assert.equal(m.content[0].thinking, THOUGHT);
  assert.ok(m.content[0].signature);
  assert.ok(m.content[1].data);
  assert.equal(m.content[2].text, SAID);
  for (const [i, [id, input]] of CALLS.entries()) {
    assert.equal(m.content[3 + i].id, id);
    assert.equal(m.content[3 + i].name, "read_file");
    assert.deepEqual(m.content[3 + i].input, input);
  }
}

for (const how of ["whole", "streamed"]) {
  cases[`anthropic: thinking, tools and images go there and back, ${how}`] = async () => {
    const params = ask("tools", { tools: claudeTools, thinking: { type: "enabled", budget_tokens: 2000 } });
    const m = how === "whole" ? await anthropic.messages.create(params) : await anthropic.messages.stream(params).finalMessage();
    checkClaude(m);
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
    const back = await anthropic.messages.create({
      ...params,
      messages: [
        ...params.messages,
        { role: "assistant", content: m.content },
        user([
          { type: "tool_result", tool_use_id: "call_c", content: "alpha" },
          { type: "tool_result", tool_use_id: "call_d", is_error: true, content: [{ type: "text", text: "no such file" }, image] },
          image,
          { type: "text", text: "echo" },
        ]),
      ],
    });
    const seen = JSON.parse(back.content[0].text);
    const [, said, results] = seen.messages;
    assert.equal(said.content[0].thinking, THOUGHT);
    assert.equal(said.content[0].signature, "sig+/=");
    assert.equal(said.content[1].data, "sealed");
    assert.deepEqual(said.content[4].input, CALLS[1][1]);
    assert.equal(results.content[0].content[0].text, "alpha");
    assert.equal(results.content[1].is_error, true);
    assert.equal(results.content[1].content.find((b) => b.type === "image").source.data, PIXEL);
    assert.equal(results.content[2].source.data, PIXEL);
    assert.equal(seen.thinking.type === "enabled" || seen.thinking.type === "adaptive", true);
  };
}

cases["anthropic: the tool runner goes round until the end"] = async () => {
  const asked = [];
  const m = await anthropic.beta.messages.toolRunner({
    ...ask("once"),
    tools: [{ type: "custom", name: "read_file", description: "Reads.", input_schema: schema, parse: (x) => x, run: async (x) => { asked.push(x.path); return "alpha"; } }],
  });
  assert.deepEqual(asked, ["c"]);
  assert.equal(m.content.at(-1).text, "It says alpha.");
};

cases["anthropic: the other ends of an answer"] = async () => {
  assert.equal((await anthropic.messages.create(ask("length"))).stop_reason, "max_tokens");
  assert.equal((await anthropic.messages.create(ask("refusal"))).stop_reason, "refusal");
};

cases["anthropic: tokens are counted without a call"] = async () => {
  const count = await anthropic.messages.countTokens({ model: "x", system: "be brief", tools: claudeTools, messages: [user("hello ".repeat(1000))] });
  assert.ok(count.input_tokens > 500 && count.input_tokens < 10_000, String(count.input_tokens));
};

cases["anthropic: models are listed page by page"] = async () => {
  const ids = [];
  for await (const m of anthropic.models.list()) {
    assert.equal(m.type, "model");
    assert.ok(!Number.isNaN(Date.parse(m.created_at)));
    ids.push(m.id);
  }
  assert.deepEqual(ids, ["associate", "director"]);
  assert.equal((await anthropic.models.retrieve("claude-opus-4-5")).id, "claude-opus-4-5");
};

async function refusal(call) {
  try {
    await call();
  } catch (err) {
    return err;
  }
  throw new Error("the call was not refused");
}

for (const [said, kind, status, type] of [
  ["status 401", Anthropic.AuthenticationError, 401, "authentication_error"],
  ["status 403", Anthropic.PermissionDeniedError, 403, "permission_error"],
  ["status 404", Anthropic.NotFoundError, 404, "not_found_error"],
  ["status 413", Anthropic.APIError, 413, "request_too_large"],
  ["status 429", Anthropic.RateLimitError, 429, "rate_limit_error"],
  ["status 529", Anthropic.InternalServerError, 529, "overloaded_error"],
  ["status 500", Anthropic.InternalServerError, 502, "api_error"],
  ["status 400", Anthropic.BadRequestError, 400, "invalid_request_error"],
]) {
  cases[`anthropic: ${said} is ${kind.name}`] = async () => {
    for (const stream of [false, true]) {
      const err = await refusal(() => anthropic.messages.create(ask(said, { stream })));
      assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`);
      assert.equal(err.status, status);
      assert.equal(err.type, type);
      assert.match(err.apiMessage, /it went wrong/);
      if (status === 429) assert.equal(err.headers.get("retry-after"), "90");
      assert.ok(err.requestID, "the error names no request");
    }
  };
}

cases["anthropic: a request of nonsense is a bad request"] = async () => {
  const err = await refusal(() => anthropic.messages.create(ask("hello", { messages: [] })));
  assert.ok(err instanceof Anthropic.BadRequestError, err.message);
  assert.equal(err.type, "invalid_request_error");
};

cases["anthropic: a body that is too large is 413"] = async () => {
  const err = await refusal(() => anthropic.messages.create(ask("x".repeat(9 << 20))));
  assert.equal(err.status, 413, err.message);
  assert.equal(err.type, "request_too_large");
};

cases["anthropic: what is not served is not found"] = async () => {
  const err = await refusal(() => anthropic.messages.batches.list());
  assert.ok(err instanceof Anthropic.NotFoundError, err.message);
  assert.equal(err.type, "not_found_error");
};

cases["anthropic: an error in the middle of a stream"] = async () => {
  const err = await refusal(() => anthropic.messages.stream(ask("midstream")).finalMessage());
  assert.ok(err instanceof Anthropic.APIError, `${err.constructor.name}: ${err.message}`);
  assert.equal(err.type, "overloaded_error");
};

cases["anthropic: a stream that is left"] = async () => {
  const stream = anthropic.messages.stream(ask("slow")).on("text", () => stream.abort());
  const err = await refusal(() => stream.finalMessage());
  assert.ok(err instanceof Anthropic.APIUserAbortError, `${err.constructor.name}: ${err.message}`);
};

// ---- OpenAI, chat completions ----

cases["chat: a whole answer"] = async () => {
  const c = await openai.chat.completions.create(chat("hello"));
  assert.equal(c.object, "chat.completion");
  assert.equal(c.choices[0].message.role, "assistant");
  assert.equal(c.choices[0].message.content, "Hello, world.");
  assert.equal(c.choices[0].message.refusal, null);
  assert.equal(c.choices[0].logprobs, null);
  assert.equal(c.choices[0].finish_reason, "stop");
  assert.equal(c.usage.prompt_tokens, 100);
  assert.equal(c.usage.prompt_tokens_details.cached_tokens, 60);
  assert.equal(c.usage.total_tokens, 120);
  assert.ok(c._request_id, "the answer names no request");
};

cases["chat: a stream in pieces"] = async () => {
  const pieces = [];
  const stream = openai.chat.completions.stream(chat("hello", { stream_options: { include_usage: true } })).on("content", (t) => pieces.push(t));
  const c = await stream.finalChatCompletion();
  assert.equal(c.choices[0].message.content, "Hello, world.");
  assert.ok(pieces.length > 1, `one piece: ${pieces}`);
  assert.equal((await stream.totalUsage()).total_tokens, 120);
};

for (const how of ["whole", "streamed"]) {
  cases[`chat: tools and images go there and back, ${how}`] = async () => {
    const params = chat("tools", { tools: chatTools });
    const c = how === "whole" ? await openai.chat.completions.create(params) : await openai.chat.completions.stream(params).finalChatCompletion();
    const m = c.choices[0].message;
    assert.equal(c.choices[0].finish_reason, "tool_calls");
    assert.equal(m.content, SAID);
    assert.equal(m.reasoning_content, THOUGHT);
    assert.deepEqual(m.tool_calls.map((t) => [t.id, JSON.parse(t.function.arguments)]), CALLS);
    const back = await openai.chat.completions.create({
      ...params,
      messages: [
        ...params.messages,
        m,
        { role: "tool", tool_call_id: "call_c", content: "alpha" },
        { role: "tool", tool_call_id: "call_d", content: [{ type: "text", text: "beta" }] },
        user([{ type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }, { type: "text", text: "echo" }]),
      ],
    });
    const seen = JSON.parse(back.choices[0].message.content);
    const all = JSON.stringify(seen.messages);
    for (const part of ["alpha", "beta", PIXEL, SAID, "call_d"]) assert.ok(all.includes(part), `${part} is not in ${all}`);
  };
}

cases["chat: the tool runner goes round until the end"] = async () => {
  const asked = [];
  const runner = openai.chat.completions.runTools({
    ...chat("once"),
    stream: true,
    tools: [{ type: "function", function: { name: "read_file", parse: JSON.parse, parameters: schema, function: (x) => { asked.push(x.path); return "alpha"; } } }],
  });
  assert.equal(await runner.finalContent(), "It says alpha.");
  assert.deepEqual(asked, ["c"]);
};

cases["chat: the other ends of an answer"] = async () => {
  assert.equal((await openai.chat.completions.create(chat("length"))).choices[0].finish_reason, "length");
  assert.equal((await openai.chat.completions.create(chat("refusal"))).choices[0].finish_reason, "content_filter");
};

cases["openai: models are listed"] = async () => {
  const ids = [];
  for await (const m of openai.models.list()) ids.push(m.id);
  assert.deepEqual(ids, ["associate", "director"]);
  assert.equal((await openai.models.retrieve("gpt-5")).object, "model");
};

for (const [said, kind, status, code] of [
  ["status 401", OpenAI.AuthenticationError, 401, "invalid_api_key"],
  ["status 403", OpenAI.PermissionDeniedError, 403, null],
  ["status 404", OpenAI.NotFoundError, 404, "model_not_found"],
  ["status 413", OpenAI.BadRequestError, 400, "context_length_exceeded"],
  ["status 429", OpenAI.RateLimitError, 429, "rate_limit_exceeded"],
  ["status 402", OpenAI.RateLimitError, 429, "insufficient_quota"],
  ["status 529", OpenAI.InternalServerError, 503, "server_is_overloaded"],
  ["status 500", OpenAI.InternalServerError, 502, null],
  ["status 400", OpenAI.BadRequestError, 400, null],
]) {
  for (const [api, call] of [
    ["chat", (stream) => openai.chat.completions.create(chat(said, { stream }))],
    ["responses", (stream) => openai.responses.create(respond(said, { stream }))],
  ]) {
    cases[`${api}: ${said} is ${kind.name}`] = async () => {
      for (const stream of [false, true]) {
        const err = await refusal(() => call(stream));
        assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`);
        assert.equal(err.status, status);
        if (code) assert.equal(err.code, code);
        assert.match(err.message, /it went wrong/);
        if (said === "status 429") assert.equal(err.headers.get("retry-after"), "90");
        assert.ok(err.requestID, "the error names no request");
      }
    };
  }
}

cases["chat: a body that is too large is 413"] = async () => {
  const err = await refusal(() => openai.chat.completions.create(chat("x".repeat(9 << 20))));
  assert.equal(err.status, 413, err.message);
};

cases["openai: what is not served is not found"] = async () => {
  const err = await refusal(() => openai.embeddings.create({ model: "x", input: "y" }));
  assert.ok(err instanceof OpenAI.NotFoundError, err.message);
};

cases["chat: an error in the middle of a stream"] = async () => {
  const err = await refusal(() => openai.chat.completions.stream(chat("midstream")).finalChatCompletion());
  assert.ok(err instanceof OpenAI.APIError, `${err.constructor.name}: ${err.message}`);
  assert.match(err.message, /it went wrong/);
};

cases["chat: a stream that is left"] = async () => {
  const stream = openai.chat.completions.stream(chat("slow")).on("content", () => stream.abort());
  const err = await refusal(() => stream.finalChatCompletion());
  assert.ok(err instanceof OpenAI.APIUserAbortError, `${err.constructor.name}: ${err.message}`);
};

// ---- OpenAI, responses ----

cases["responses: a whole answer"] = async () => {
  const r = await openai.responses.create(respond("hello"));
  assert.equal(r.object, "response");
  assert.equal(r.status, "completed");
  assert.equal(r.output_text, "Hello, world.");
  for (const field of ["error", "incomplete_details", "instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p"]) {
    assert.ok(field in r, `${field} is missing`);
  }
  assert.equal(r.usage.input_tokens, 100);
  assert.equal(r.usage.input_tokens_details.cached_tokens, 60);
  assert.ok(r._request_id, "the answer names no request");
};

function checkResponse(r) {
  assert.equal(r.status, "completed");
  assert.deepEqual(r.output.map((i) => i.type), ["reasoning", "reasoning", "message", "function_call", "function_call"]);
  assert.equal(r.output[0].summary[0].text, THOUGHT);
  assert.ok(r.output[1].encrypted_content);
  assert.equal(r.output_text ?? r.output[2].content[0].text, SAID);
  assert.deepEqual(r.output.slice(3).map((i) => [i.call_id, JSON.parse(i.arguments)]), CALLS);
}

for (const how of ["whole", "streamed"]) {
  cases[`responses: reasoning, tools and images go there and back, ${how}`] = async () => {
    const params = respond([{ role: "user", content: "tools" }], { tools: responseTools, store: false, include: ["reasoning.encrypted_content"] });
    let r;
    if (how === "whole") {
      r = await openai.responses.create(params);
    } else {
      r = await streamed(params);
    }
    checkResponse(r);
    const back = await openai.responses.create({
      ...params,
      input: [
        ...params.input,
        ...r.output,
        { type: "function_call_output", call_id: "call_c", output: "alpha" },
        { type: "function_call_output", call_id: "call_d", output: [{ type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" }] },
        { role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" }, { type: "input_text", text: "echo" }] },
      ],
    });
    const seen = JSON.parse(back.output_text);
    const [, said, results] = seen.messages;
    assert.equal(said.content[0].thinking, THOUGHT);
    assert.equal(said.content[0].signature, "sig+/=");
    assert.equal(said.content[1].data, "sealed");
    assert.deepEqual(said.content[4].input, CALLS[1][1]);
    assert.equal(results.content[0].content[0].text, "alpha");
    assert.equal(JSON.stringify(results).split(PIXEL).length, 3);
  };
}

// streamed follows a stream event by event and holds each against the ones before.
async function streamed(params) {
  const stream = openai.responses.stream(params);
  const pieces = {};
  let number = 0;
  for await (const e of stream) {
    assert.equal(e.sequence_number, number++, e.type);
    switch (e.type) {
      case "response.function_call_arguments.delta":
        pieces[e.item_id] = (pieces[e.item_id] ?? "") + e.delta;
        break;
      case "response.function_call_arguments.done":
        assert.equal(e.arguments, pieces[e.item_id]);
        assert.equal(e.name, "read_file");
        break;
      case "response.output_text.delta":
        assert.deepEqual(e.logprobs, []);
        break;
      case "response.output_text.done":
        assert.equal(e.text, SAID);
        assert.deepEqual(e.logprobs, []);
        break;
      case "response.output_item.done":
        if (e.item.type === "function_call") assert.equal(e.item.arguments, pieces[e.item.id]);
        break;
    }
  }
  assert.equal(Object.keys(pieces).length, 2);
  return stream.finalResponse();
}

cases["responses: the other ends of an answer"] = async () => {
  const long = await openai.responses.create(respond("length"));
  assert.equal(long.status, "incomplete");
  assert.equal(long.incomplete_details.reason, "max_output_tokens");
};

cases["responses: an error in the middle of a stream"] = async () => {
  const events = [];
  for await (const e of await openai.responses.create(respond("midstream", { stream: true }))) events.push(e);
  const last = events.at(-1);
  assert.equal(last.type, "response.failed");
  assert.equal(last.response.error.code, "server_is_overloaded");
  assert.match(last.response.error.message, /it went wrong/);
};

cases["responses: a stream that is left"] = async () => {
  const stream = openai.responses.stream(respond("slow")).on("response.output_text.delta", () => stream.abort());
  const err = await refusal(() => stream.finalResponse());
  assert.ok(err instanceof OpenAI.APIUserAbortError, `${err.constructor.name}: ${err.message}`);
};

for (const [name, run] of Object.entries(cases)) {
  let failed = "";
  const began = Date.now();
  try {
    await run();
  } catch (err) {
    failed = String(err.stack ?? err);
  }
  console.log(JSON.stringify({ name, failed, ms: Date.now() - began }));
}
