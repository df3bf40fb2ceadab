/** Ids that apps had before, with those they have now. Windows in older logs name them. */
const before: Readonly<Record<string, string>> = { browser: "preview" };

/** The id that an app has now. */
export function appIdOf(id: string): string {
  return Object.hasOwn(before, id) ? (before[id] ?? id) : id;
}
