import { expect, it } from "vitest";
import { RUN } from "#base/domain/testing.ts";
import { authenticate, signedText } from "./signature";

const base64 = (bytes: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

async function signer() {
  const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  return {
    key: base64(await crypto.subtle.exportKey("raw", pair.publicKey)),
    sign: async (text: string) =>
      base64(await crypto.subtle.sign("Ed25519", pair.privateKey, signedText("run.finished", RUN, text))),
  };
}

it("knows the Director's own words from others", async () => {
  const [director, other] = [await signer(), await signer()];
  const signed = { type: "run.finished" as const, run: RUN, text: "Done.", signature: await director.sign("Done.") };
  expect(await authenticate(signed, [other.key, director.key])).toBe("verified");
  expect(await authenticate({ ...signed, text: "Done!" }, [director.key])).toBe("unknown_key");
  expect(await authenticate({ ...signed, type: "toast.shown" }, [director.key])).toBe("unknown_key");
  expect(await authenticate(signed, [other.key])).toBe("unknown_key");
  expect(await authenticate({ ...signed, signature: undefined }, [director.key])).toBe("unsigned");
});
