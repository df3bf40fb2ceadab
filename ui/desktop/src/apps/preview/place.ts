/** A place inside the sandbox: what listens at a port, and a path there. */
export interface Place {
  port: number;
  /** With what follows it, from the slash on. */
  path: string;
}

/** The hosts that mean the sandbox itself. */
const own = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** Reads what a person types: a port, `localhost:8000/path` or `http://localhost:8000/path`. */
export function placeOf(typed: string): Place | undefined {
  const text = typed.trim();
  const port = /^:?(\d{1,5})(\/.*)?$/.exec(text);
  const address = port ? `http://localhost:${port[1]}${port[2] ?? "/"}` : text.replace(/^(?!\w+:\/\/)/, "http://");
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const number = Number(url.port || 80);
  if (url.protocol !== "http:" || !own.test(url.hostname) || url.username || url.password || number < 1)
    return undefined;
  return { port: number, path: `${url.pathname}${url.search}${url.hash}` };
}

/** How a place is written in the address bar, and as the subject of a window. */
export function addressOf({ port, path }: Place): string {
  return `http://localhost:${port}${path}`;
}
