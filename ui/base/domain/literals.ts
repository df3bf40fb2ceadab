import { parseSync } from "vite";

/** A node of a parsed source, as far as it is looked at here. */
interface Node {
  type: string;
  value?: unknown;
  name?: unknown;
  [key: string]: unknown;
}

/** The attributes whose values people read or hear. */
const read = new Set([
  "title",
  "aria-label",
  "aria-valuetext",
  "aria-description",
  "alt",
  "placeholder",
  "label",
  "none",
]);

/** Elements whose text is no sentence: commands, keys, examples. */
const verbatim = new Set(["code", "kbd", "pre"]);

/** Two letters in a row, which no sign or unit has. */
const words = /\p{L}{2}/u;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

function nameOf(node: Node | undefined): string {
  const name = node?.name;
  return typeof name === "string" ? name : isNode(name) ? nameOf(name) : "";
}

/** The words that stand in the JSX of a source instead of in a catalogue: texts, and attributes that people read. For tests. */
export function literalsIn(file: string, source: string): string[] {
  const found: string[] = [];
  visit(parseSync(file, source).program as unknown as Node, found, false);
  return found;
}

// `shown` says that the value of this expression is read by people.
function visit(node: Node, found: string[], shown: boolean): void {
  if (node.type === "JSXElement" && verbatim.has(nameOf(node.openingElement as Node))) return;
  if (node.type === "JSXText") keep(found, node.value);
  if (shown && node.type === "Literal") keep(found, node.value);
  if (shown && node.type === "TemplateElement") keep(found, (node.value as { raw: string }).raw);
  for (const child of childrenOf(node)) visit(child, found, isShown(node, child, shown));
}

function isShown(parent: Node, child: Node, shown: boolean): boolean {
  switch (parent.type) {
    case "JSXAttribute":
      return read.has(nameOf(parent));
    case "JSXElement":
    case "JSXFragment":
      return child.type === "JSXExpressionContainer";
    case "JSXExpressionContainer":
    case "TemplateLiteral":
    case "ParenthesizedExpression":
      return shown;
    case "ConditionalExpression":
      return shown && child !== parent.test;
    case "LogicalExpression":
      return shown && child === parent.right;
    default:
      return false;
  }
}

function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([key, value]) => (key === "parent" ? [] : [value].flat().filter(isNode)));
}

function keep(found: string[], value: unknown): void {
  if (typeof value === "string" && words.test(value)) found.push(value.replace(/\s+/g, " ").trim());
}
