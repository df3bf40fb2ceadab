// Package wiretest has local HTTP servers that speak the model providers' real
// wire formats, for tests: Anthropic Messages and OpenAI chat completions as
// server-sent events, and Bedrock's InvokeModelWithResponseStream as a binary
// event stream.
//
// Server answers one request after the other by steps: an answer, whole or
// split into pieces of any size, or a fault such as a 429, a malformed event or
// a stream that is cut.
//
// # Scripted models for tests of the whole system
//
// NewScripted is an Anthropic server whose answers come from rules in a JSON
// file, so that a test can drive the Director and the Associate:
//
//	{
//	  "rules": [
//	    {
//	      "name": "plan",
//	      "match": {"caller": "director", "turn": 1, "last": "fix the test"},
//	      "respond": {
//	        "text": "I will look first.",
//	        "tool_calls": [{"name": "submit_plan", "input": {"steps": []}}]
//	      }
//	    },
//	    {
//	      "name": "once over its limit",
//	      "times": 1,
//	      "match": {"caller": "associate"},
//	      "fail": {"status": 529, "retry_after": "0"}
//	    },
//	    {
//	      "name": "done",
//	      "match": {"tool_result": "PASS", "tool": "bash"},
//	      "respond": {"text": "Done.", "usage": {"input_tokens": 50, "output_tokens": 3}}
//	    }
//	  ]
//	}
//
// For each request the rules are tried in order and the first that matches
// answers. Every condition of match must hold; an empty match holds always:
//
//   - caller: the request's model name contains it (tests give the aliases
//     director and associate the models scripted-director, scripted-associate)
//   - model: the request's model name is it
//   - system: the system prompt contains it
//   - first: the first message contains it
//   - last: the last message contains it, in text or tool results
//   - tool_result: a tool result in the last message contains it
//   - tool: with tool_result, the result is one of this tool; alone, the last
//     message has a result of this tool
//   - error: true or false, a tool result in the last message is (not) an error
//   - turn: one more than the number of assistant messages in the request
//   - any: the request's text contains it anywhere
//   - not: the request's text contains it nowhere
//
// capture takes values out of the request: {"capture": {"task": "task=([0-9a-f-]{36})"}}
// searches the request's text from its end, and {{task}} in text, names and
// inputs of the answer becomes the first group. A capture that finds nothing
// makes the rule not match.
//
// times bounds how often a rule answers; 0, the default, is without bound.
//
// respond is text, tool_calls (each {name, input, id?}), stop (end, tool_call,
// length or refusal; default follows from tool_calls), usage and delay_ms, a
// pause before each piece. fail is status with retry_after, type and message;
// or cut_after, the number of events after which the stream is cut; or
// malformed, true for an event that is no JSON.
//
// A request that no rule matches is answered by 400, with a message that says
// what the request looked like, and listed in Unmatched.
package wiretest
