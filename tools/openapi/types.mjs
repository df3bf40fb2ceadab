// Reads an OpenAPI document and writes its TypeScript types. Schemas that are types
// of the vocabulary become references to those that tools/contracts writes, which
// say more: an event's type tells its payload. The paths are left out, since the
// operations have all that the paths say. TypeScript is the one of this package,
// because openapi-typescript does not work with the pages' own.
import { readdirSync, readFileSync } from "node:fs";
import { json } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const [contracts] = process.argv.slice(2);
const declared = new Set(
  readdirSync(contracts).flatMap((name) =>
    [...readFileSync(`${contracts}/${name}`, "utf8").matchAll(/^export (?:type|interface) (\w+)\b/gm)].map((m) => m[1]),
  ),
);
const instead = { Type: "EventType" };
const used = new Set();

/** Gives the type of the vocabulary that a schema is, if the pages have it. */
function transform(schema) {
  const name = instead[schema["x-choir-type"]] ?? schema["x-choir-type"];
  if (!declared.has(name)) return undefined;
  used.add(name);
  return ts.factory.createTypeReferenceNode(name);
}

const nodes = await openapiTS(await json(process.stdin), { transform });
const wanted = nodes.filter((node) => ["components", "operations"].includes(node.name?.text));
const body = astToString(wanted);
process.stdout.write(`import type { ${[...used].sort().join(", ")} } from "./contracts";\n\n${body}`);
