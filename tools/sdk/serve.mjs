// @ts-check
// A model service whose answers have the types of the providers' own npm packages, which tsc holds
// them to: internal/model/sdkserver_test.go runs our clients against it. What it answers follows from
// the last words of the user. It prints its port, and ends with its standard input.
import { createServer } from "node:http";

/** @typedef {import("@anthropic-ai/sdk").Anthropic.RawMessageStreamEvent} ClaudeEvent */
/** @typedef {import("@anthropic-ai/sdk").Anthropic.MessageCreateParamsStreaming} ClaudeRequest */
/** @typedef {import("@anthropic-ai/sdk").Anthropic.ErrorResponse} ClaudeError */
/** @typedef {import("openai").OpenAI.Chat.Completions.ChatCompletionChunk} ChatChunk */
/** @typedef {import("openai").OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming} ChatRequest */
/** @typedef {import("openai").OpenAI.Responses.ResponseStreamEvent} ResponseEvent */
/** @typedef {import("openai").OpenAI.Responses.ResponseCreateParamsStreaming} ResponseRequest */
/** @typedef {import("openai").OpenAI.ErrorObject} OpenAIError */
/** @typedef {{ status: number, code: string, error: import("@anthropic-ai/sdk").Anthropic.ErrorObject }} Failure */

/** @type {Record<string, Failure>} */
const failures = {
  400: { status: 400, code: "invalid_value", error: { type: "invalid_request_error", message: "messages: nothing is asked" } },
  413: { status: 413, code: "context_length_exceeded", error: { type: "invalid_request_error", message: "prompt is too long" } },
  429: { status: 429, code: "rate_limit_exceeded", error: { type: "rate_limit_error", message: "too many requests" } },
  529: { status: 529, code: "server_error", error: { type: "overloaded_error", message: "Overloaded" } },
};

const told = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 100,
  input_tokens: 20,
  output_tokens_details: null,
  server_tool_use: null,
};
/** @type {import("@anthropic-ai/sdk").Anthropic.Usage} */
const usage = { ...told, output_tokens: 1, cache_creation: null, inference_geo: null, service_tier: "standard", speed: null };

const THOUGHT = "Let me see.";
const SAID = "I read both.";
/** @type {[string, string][]} */
const CALLS = [
  ["call_c", '{"path":"c"}'],
  ["call_d", '{"path":"d \u00e9 \\"quoted\\""}'],
];

/** Cuts a text in the middle, as services do. @param {string} text @returns {string[]} */
const halves = (text) => [text.slice(0, 5), text.slice(5)];

/** @returns {ClaudeEvent[]} */
function claude() {
  /** @type {ClaudeEvent[]} */
  const events = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [],
        container: null,
        stop_details: null,
        stop_reason: null,
        stop_sequence: null,
        usage,
        diagnostics: null,
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    ...halves(THOUGHT).map(
      /** @returns {ClaudeEvent} */
      (thinking) => ({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking } }),
    ),
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig+/=" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "", citations: null } },
    ...halves(SAID).map(
      /** @returns {ClaudeEvent} */
      (text) => ({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text } }),
    ),
    { type: "content_block_stop", index: 1 },
  ];
  for (const [i, [id, input]] of CALLS.entries()) {
    const index = i + 2;
    events.push(
      { type: "content_block_start", index, content_block: { type: "tool_use", id, name: "read_file", input: {}, caller: { type: "direct" } } },
      ...halves(input).map(
        /** @returns {ClaudeEvent} */
        (partial_json) => ({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } }),
      ),
      { type: "content_block_stop", index },
    );
  }
  events.push(
    { type: "message_delta", delta: { container: null, stop_details: null, stop_reason: "tool_use", stop_sequence: null }, usage: { ...told, output_tokens: 34 } },
    { type: "message_stop" },
  );
  return events;
}

/** @param {ChatChunk["choices"]} choices @param {ChatChunk["usage"]} [usage] @returns {ChatChunk} */
const chunk = (choices, usage) => ({ id: "chatcmpl_1", object: "chat.completion.chunk", created: 1, model: "gpt-5", choices, usage });

/** @returns {ChatChunk[]} */
function chat() {
  /** @param {ChatChunk["choices"][number]["delta"]} delta @param {ChatChunk["choices"][number]["finish_reason"]} [finish_reason] */
  const piece = (delta, finish_reason = null) => chunk([{ index: 0, delta, finish_reason }]);
  return [
    piece({ role: "assistant", content: "", refusal: null }),
    ...halves(SAID).map((content) => piece({ content })),
    ...CALLS.flatMap(([id, input], index) => [
      piece({ tool_calls: [{ index, id, type: "function", function: { name: "read_file", arguments: "" } }] }),
      ...halves(input).map((text) => piece({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    piece({}, "tool_calls"),
    chunk([], { prompt_tokens: 120, completion_tokens: 34, total_tokens: 154, prompt_tokens_details: { cached_tokens: 100 } }),
  ];
}

/** @param {import("openai").OpenAI.Responses.ResponseOutputItem[]} output @param {boolean} ended @returns {import("openai").OpenAI.Responses.Response} */
const response = (output, ended) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "gpt-5",
  status: ended ? "completed" : "in_progress",
  output,
  output_text: "",
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: null,
  parallel_tool_calls: true,
  temperature: 1,
  top_p: 1,
  tool_choice: "auto",
  tools: [],
  ...(ended && {
    usage: {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 100, cache_write_tokens: 0 },
      output_tokens: 34,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 154,
    },
  }),
});

/** @returns {ResponseEvent[]} */
function responses() {
  let sequence_number = 0;
  /** @type {ResponseEvent[]} */
  const events = [{ type: "response.created", sequence_number: sequence_number++, response: response([], false) }];
  /** @type {import("openai").OpenAI.Responses.ResponseReasoningItem} */
  const thought = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: THOUGHT }], encrypted_content: "sealed" };
  /** @type {import("openai").OpenAI.Responses.ResponseOutputText} */
  const text = { type: "output_text", text: SAID, annotations: [] };
  /** @type {import("openai").OpenAI.Responses.ResponseOutputMessage} */
  const said = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [text] };
  const calls = CALLS.map(
    /** @returns {import("openai").OpenAI.Responses.ResponseFunctionToolCall} */
    ([call_id, input], i) => ({ id: `fc_${i}`, type: "function_call", call_id, name: "read_file", arguments: input, status: "completed" }),
  );
  events.push(
    { type: "response.output_item.added", sequence_number: sequence_number++, output_index: 0, item: { ...thought, summary: [] } },
    { type: "response.output_item.done", sequence_number: sequence_number++, output_index: 0, item: thought },
    { type: "response.output_item.added", sequence_number: sequence_number++, output_index: 1, item: { ...said, content: [] } },
    { type: "response.content_part.added", sequence_number: sequence_number++, output_index: 1, content_index: 0, item_id: said.id, part: { ...text, text: "" } },
  );
  for (const delta of halves(SAID)) {
    events.push({ type: "response.output_text.delta", sequence_number: sequence_number++, output_index: 1, content_index: 0, item_id: said.id, delta, logprobs: [] });
  }
  events.push(
    { type: "response.output_text.done", sequence_number: sequence_number++, output_index: 1, content_index: 0, item_id: said.id, text: SAID, logprobs: [] },
    { type: "response.output_item.done", sequence_number: sequence_number++, output_index: 1, item: said },
  );
  for (const [i, call] of calls.entries()) {
    const at = { output_index: i + 2, item_id: call.id ?? "" };
    events.push({ type: "response.output_item.added", sequence_number: sequence_number++, output_index: i + 2, item: { ...call, arguments: "" } });
    for (const delta of halves(call.arguments)) {
      events.push({ type: "response.function_call_arguments.delta", sequence_number: sequence_number++, ...at, delta });
    }
    events.push(
      { type: "response.function_call_arguments.done", sequence_number: sequence_number++, ...at, name: call.name, arguments: call.arguments },
      { type: "response.output_item.done", sequence_number: sequence_number++, output_index: i + 2, item: call },
    );
  }
  events.push({ type: "response.completed", sequence_number: sequence_number++, response: response([thought, said, ...calls], true) });
  return events;
}

/** The frames of a stream. @param {(ClaudeEvent | ChatChunk | ResponseEvent)[]} events @returns {string[]} */
const frames = (events) => events.map((e) => `${"type" in e ? `event: ${e.type}\n` : ""}data: ${JSON.stringify(e)}\n\n`);

/** The body of a failure, as each service writes it. @param {string} path @param {Failure} f @returns {ClaudeError | { error: OpenAIError }} */
function failed(path, f) {
  if (path.endsWith("/messages")) return { type: "error", request_id: "req_1", error: f.error };
  return { error: { ...f.error, code: f.code, param: null } };
}

/** What the user said last. @param {string} path @param {string} body @returns {string} */
function wordsOf(path, body) {
  if (path.endsWith("/responses")) {
    /** @type {ResponseRequest} */
    const { input } = JSON.parse(body);
    return JSON.stringify(Array.isArray(input) ? input.at(-1) : input);
  }
  /** @type {ClaudeRequest | ChatRequest} */
  const { messages, stream } = JSON.parse(body);
  if (stream !== true) throw new Error("a stream is not asked for");
  return JSON.stringify(messages.at(-1));
}

const server = createServer(async (request, reply) => {
  let body = "";
  for await (const part of request) body += part;
  const path = new URL(request.url ?? "/", "http://service").pathname;
  const words = wordsOf(path, body);
  const status = /status (\d+)/.exec(words)?.[1];
  const failure = status && failures[status];
  if (failure) {
    reply.writeHead(failure.status, { "Content-Type": "application/json", "request-id": "req_1" });
    reply.end(JSON.stringify(failed(path, failure)));
    return;
  }
  const all = path.endsWith("/messages") ? frames(claude()) : path.endsWith("/responses") ? frames(responses()) : frames(chat());
  if (path.endsWith("/completions")) all.push("data: [DONE]\n\n");
  // The stream dies once the first tool call is whole, and before the answer ends.
  const last = all.findIndex((f) => f.includes(CALLS[1]?.[0] ?? ""));
  reply.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const frame of words.includes("die") ? all.slice(0, last) : all) reply.write(frame);
  if (words.includes("die")) reply.socket?.end();
  else reply.end();
});
server.listen(0, "127.0.0.1", () => {
  const at = server.address();
  console.log(typeof at === "object" && at ? at.port : at);
});
process.stdin.on("end", () => process.exit()).resume();
