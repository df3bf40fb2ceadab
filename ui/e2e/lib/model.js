// A model that follows a script, speaking the wire format of an
// OpenAI-compatible endpoint. What it does depends on the prompt's first word.
import { once } from "node:events";
import { createServer } from "node:http";
import { within } from "./limits.js";

/** A command nobody else runs, so that it can be looked for. */
export const lingering = "sleep 6173";

const step = (over) => ({
  goal: "The work is done.",
  steps: [
    {
      id: "one",
      title: "Do the work",
      kind: "run",
      instruction: "Run the command.",
      acceptance_criteria: ["the command ran"],
      verify_profile: { mode: "none" },
      ...over,
    },
  ],
});

const judge = (verdict, met) => ({
  step: "one",
  verdict,
  criteria: [
    { criterion: "c1", met, evidence: "the result", ...(met && { shown_by: { kind: "command", number: 1 } }) },
  ],
  reason: met ? "It ran." : "Verification failed.",
});

const toast = (text) => [{ name: "show_toast", input: { text } }];
const plan = (over) => [{ name: "submit_plan", input: step(over) }];

/** By the prompt's first word: what the Director does at each of its turns. */
const scripts = {
  hello: [{ calls: toast("Hello! What shall we do?") }],
  // After a refused plan words alone are no answer.
  chat: [{ calls: [{ name: "submit_plan", input: { goal: 1 } }] }, { text: "Paris, **of** <b>course</b>." }],
  linger: [
    {
      text: "First a command that takes its time.",
      calls: plan({ commands: [{ shell: `echo begun; ${lingering}` }] }),
    },
    { calls: [{ name: "judge_result", input: judge("abort", false) }] },
  ],
  pausable: [
    {
      calls: plan({
        commands: [
          {
            shell:
              "echo first begun; until [ -e workspace/first-may-end ]; do sleep 0.1; done; echo 1 > workspace/first-ended",
          },
          { shell: "echo second > workspace/second" },
        ],
      }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "Both were run." } }] },
  ],
  slowly: [
    {
      text: "I look at what there is, and think about it for a while. ".repeat(40),
      pauseMs: 40,
      calls: toast("Done."),
    },
  ],
  ask: [
    { calls: [{ name: "ask_user", input: { text: "Which colour shall it be?", choices: ["Blue", "Green"] } }] },
    { calls: [{ name: "answer", input: { text: "It shall be as you say." } }] },
  ],
  halve: [{ calls: [{ name: "answer", input: { status: "partly", text: "One of two is done." } }] }],
  report: [
    {
      calls: [
        {
          name: "answer",
          input: {
            text: "The report is written; what it rests on is in `workspace/bird.txt`.",
            document: { title: "A report on birds", text: "# Birds\n\nThe wren is small.\n" },
          },
        },
      ],
    },
  ],
  serve: [
    { calls: plan({ kind: "edit_repo", instruction: "Serve the pages." }) },
    { calls: [{ name: "judge_result", input: judge("abort", false) }] },
  ],
  // The agent's own turns in the task of the script before.
  "Serve the pages.": [
    {
      calls: [{ name: "bash", input: { command: "for i in 1 2 3; do echo page-$i; done; exec sleep 600", wait_s: 1 } }],
    },
    { calls: [{ name: "bash", input: { handle: 1, wait_s: 600 } }] },
    { text: "They are served." },
  ],
  shop: [
    {
      calls: plan({
        commands: [
          {
            shell:
              "until curl -s -o /dev/null -w '%{http_code}' http://shop.example/ | grep -v 403; do sleep 0.2; done",
          },
        ],
      }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "There is no such shop." } }] },
  ],
  // Changes a file beside an attempt to reach a host; its result is accepted.
  guard: [
    {
      calls: plan({
        kind: "edit_repo",
        commands: [{ shell: "echo guarded > workspace/guarded.txt; curl -s http://shop.example/; true" }],
        verify_profile: { mode: "smoke", commands: [{ shell: "grep -q guarded workspace/guarded.txt" }] },
      }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "The file is guarded." } }] },
  ],
  // The same, and its result is given up.
  spurn: [
    { calls: plan({ kind: "edit_repo", commands: [{ shell: "echo spurned > workspace/guarded.txt" }] }) },
    { calls: [{ name: "judge_result", input: judge("abort", false) }] },
  ],
  "Continue the document": [
    {
      calls: plan({ commands: [{ shell: "until [ -e workspace/go ]; do sleep 0.1; done; echo went on" }] }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "It goes on from here." } }] },
  ],
  "Correct the spelling": [{ calls: [{ name: "answer", input: { text: "A first sentence, corrected." } }] }],
  darken: [
    {
      calls: plan({
        kind: "edit_repo",
        commands: [
          {
            shell:
              'printf \'%s\' \'{"name":"system","title":{"en":"Like the system","de":"Wie das System"},"scheme":"light dark","tokens":{"desk":"#0b1f4b","desk-image":"none"}}\' > choiros/themes/system.json',
          },
        ],
        verify_profile: { mode: "smoke", commands: [{ shell: "grep -q 0b1f4b choiros/themes/system.json" }] },
      }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "The background is dark blue." } }] },
  ],
  garble: [
    {
      calls: plan({
        kind: "edit_repo",
        commands: [{ shell: "echo 'this is no program (' >> choiros/src/main.tsx" }],
        // The check that is found by itself.
        verify_profile: undefined,
      }),
    },
    { calls: [{ name: "judge_result", input: judge("abort", false) }] },
  ],
  note: [
    {
      calls: plan({
        kind: "edit_repo",
        title: "Write the note",
        commands: [{ shell: "echo noted > note.md" }],
        verify_profile: { mode: "smoke", commands: [{ shell: "grep -q noted note.md" }] },
      }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "The note is **written**, <b>not</b> sent." } }] },
  ],
  ruin: [
    {
      calls: plan({ kind: "edit_repo", commands: [{ shell: "echo 'this is no program (' >> choiros/src/main.tsx" }] }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "It is done." } }] },
  ],
  "The desktop's own source": [
    {
      calls: plan({
        kind: "edit_repo",
        commands: [{ shell: "sed -i '/this is no program/d' choiros/src/main.tsx" }],
        verify_profile: undefined,
      }),
    },
    { calls: [{ name: "judge_result", input: judge("accept", true) }] },
    { calls: [{ name: "answer", input: { text: "It is mended." } }] },
  ],
  break: [
    {
      calls: plan({
        kind: "edit_repo",
        commands: [{ shell: "echo attempted > attempt.txt" }],
        verify_profile: { mode: "smoke", commands: [{ shell: "echo it is broken; exit 1" }] },
      }),
    },
    { calls: [{ name: "judge_result", input: judge("abort", false) }] },
  ],
};

/** Where a conversation is: how often the model has spoken in it. */
function turnOf(messages) {
  return messages.filter((m) => m.role === "assistant").length;
}

function textOf(message) {
  return typeof message.content === "string"
    ? message.content
    : (message.content ?? []).map((c) => c.text ?? "").join("");
}

function replyTo({ messages }) {
  const asked = textOf(messages.find((m) => m.role === "user") ?? { content: "" });
  const word = Object.keys(scripts).find((w) => asked.startsWith(w) || asked.includes(`\n\n${w}`)) ?? "hello";
  const script = scripts[word];
  return script[Math.min(turnOf(messages), script.length - 1)];
}

async function stream(response, { text = "", calls = [], pauseMs = 0 }) {
  const send = (choice, rest = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "scripted", choices: choice ? [choice] : [], ...rest })}\n\n`,
    );
  const delta = (d) => send({ index: 0, delta: d, finish_reason: null });
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  delta({ role: "assistant", content: "" });
  for (const word of text.match(/\S+\s*/g) ?? []) {
    delta({ content: word });
    if (pauseMs) await new Promise((done) => setTimeout(done, pauseMs));
    if (response.destroyed) return;
  }
  calls.forEach(({ name, input }, index) => {
    const call = { name, arguments: JSON.stringify(input) };
    delta({
      tool_calls: [{ index, id: `call_${Math.random().toString(36).slice(2)}`, type: "function", function: call }],
    });
  });
  send({ index: 0, delta: {}, finish_reason: calls.length ? "tool_calls" : "stop" });
  send(undefined, { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
  response.end("data: [DONE]\n\n");
}

/** Starts the model. `config` connects a choir to it; `keys` are those it was asked with. */
export async function startModel() {
  const keys = new Set();
  const heard = [];
  const server = createServer(async (request, response) => {
    keys.add(request.headers.authorization);
    const parts = [];
    for await (const part of request) parts.push(part);
    const asked = JSON.parse(Buffer.concat(parts).toString());
    heard.push(textOf(asked.messages.find((m) => m.role === "user") ?? { content: "" }));
    await stream(response, replyTo(asked));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  return {
    url,
    keys,
    /** The first message of each request. */
    heard,
    config: `
[models]
director = "scripted/director"
associate = "scripted/associate"

[[models.provider]]
name = "scripted"
kind = "openai"
base_url = "${url}"
key_env = "CHOIR_E2E_KEY"
free = true
`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await within(once(server, "close"), "the end of the model");
    },
  };
}
