import type { ID } from "#base/domain/contracts.ts";

/** Whether an answer carries the Director's signature. */
export type Authenticity = "verified" | "unsigned" | "unknown_key" | "unsupported";

/** What the Director signs, as choir.SignedText says. */
export function signedText(type: "run.finished" | "toast.shown", run: ID, text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`choir answer 1\n${type}\n${run}\n${text}`);
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

/** Holds a signature against every key the Director is known to have had. */
export async function authenticate(
  signed: { type: "run.finished" | "toast.shown"; run: ID; text: string; signature: string | undefined },
  keys: readonly string[],
): Promise<Authenticity> {
  if (!signed.signature) return "unsigned";
  const message = signedText(signed.type, signed.run, signed.text);
  try {
    for (const key of keys) {
      const imported = await crypto.subtle.importKey("raw", bytes(key), "Ed25519", false, ["verify"]);
      if (await crypto.subtle.verify("Ed25519", imported, bytes(signed.signature), message)) return "verified";
    }
  } catch {
    // A browser without Ed25519, or a signature that is not base64.
    return "unsupported";
  }
  return "unknown_key";
}
