// The same rules as the server's, so that a theme is refused where it is written.
const chars = /^[A-Za-z0-9 #%.,()+*/'"_-]+$/;
const calls = /([A-Za-z0-9_-]*)\(/g;

/** What a value may call; none of them fetches anything. */
const functions = new Set([
  ...["", "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark"],
  ...["calc", "min", "max", "clamp", "var", "linear-gradient", "radial-gradient", "conic-gradient"],
  ...["repeating-linear-gradient", "repeating-radial-gradient", "cubic-bezier", "steps"],
  ...["blur", "brightness", "saturate", "drop-shadow"],
]);

/** The longest value the server takes. */
const LONGEST = 200;

/** Why a text cannot be the value of a theme's token; undefined when it can. */
export function cssTrouble(value: string): "characters" | "comment" | "function" | "unbalanced" | "length" | undefined {
  if (value.length === 0 || value.length > LONGEST) return "length";
  if (!chars.test(value)) return "characters";
  if (value.includes("/*") || value.includes("*/")) return "comment";
  const bare = value.replace(/'[^']*'|"[^"]*"/g, " ");
  if (/['"]/.test(bare)) return "unbalanced";
  for (const [, name = ""] of bare.matchAll(calls)) if (!functions.has(name.toLowerCase())) return "function";
  let depth = 0;
  for (const c of bare) {
    depth += c === "(" ? 1 : c === ")" ? -1 : 0;
    if (depth < 0) return "unbalanced";
  }
  return depth === 0 ? undefined : "unbalanced";
}
