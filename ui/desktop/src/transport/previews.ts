import { ACT_MS, ask } from "#base/transport/http.ts";
import { base } from "./address";

/** Gives the address that opens what listens at a port of the sandbox; it can be used once, and soon. */
export async function openPreview(port: number, signal: AbortSignal): Promise<string> {
  return (await ask<"newPreview">(`${base}/previews`, { method: "POST", body: { port }, signal, patience: ACT_MS }))
    .url;
}
