/** Whether this browser holds pages to the hosts that their answers name; undefined when that cannot be known. */
export async function holdsPages(): Promise<boolean | undefined> {
  if (!("Worker" in globalThis)) return undefined;
  // What does not work here either says nothing about the browser.
  const works = await fetch("/health").then(
    () => true,
    () => false,
  );
  if (!works) return undefined;
  return new Promise((done) => {
    // Its answer has an empty list of hosts: a browser that knows such lists lets it ask for nothing.
    const worker = new Worker("/held.js");
    const end = (held: boolean | undefined) => {
      worker.terminate();
      done(held);
    };
    worker.onmessage = (e) => end(e.data === "held");
    worker.onerror = () => end(undefined);
  });
}

/** What a browser calls itself; undefined for one that is not known. */
export function browserName(agent: string): string | undefined {
  for (const [mark, name] of [
    ["Firefox/", "Firefox"],
    ["Edg/", "Edge"],
    ["Chrome/", "Chromium"],
    ["Safari/", "Safari"],
  ] as const)
    if (agent.includes(mark)) return name;
  return undefined;
}
