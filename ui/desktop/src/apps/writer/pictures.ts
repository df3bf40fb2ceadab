import { asPart } from "../../domain/path";
import { files } from "../../transport/files";
import { partsOf, type Tree, targetsOf } from "./tree";

/** A picture as a file of its own holds it. */
export interface Picture {
  type: "png" | "jpg";
  data: Uint8Array;
  /** CSS pixels. */
  width: number;
  height: number;
}

/** The file of the workspace that an address in a document means; undefined for one outside of it. */
export function inWorkspace(address: string): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(address)) return undefined;
  const [path = ""] = address.split(/[?#]/);
  const parts = path.split("/").filter((p) => p !== "" && p !== ".");
  if (parts.length === 0 || parts.includes("..")) return undefined;
  try {
    return parts.map((p) => asPart(decodeURIComponent(p))).join("/");
  } catch {
    return parts.map(asPart).join("/");
  }
}

/**
 * The pictures of a text by their addresses. Only those in the workspace are read: fetching another would tell its
 * host that the document is read. One that cannot be read is left out, and its words stand for it.
 */
export async function picturesOf(tree: Tree): Promise<ReadonlyMap<string, Picture>> {
  const targets = targetsOf(tree);
  const addresses = new Set<string>();
  for (const part of partsOf(tree)) {
    if (part.type === "image") addresses.add(part.url);
    else if (part.type === "imageReference") addresses.add(targets.get(part.identifier) ?? "");
  }
  const found = new Map<string, Picture>();
  for (const address of addresses) {
    const path = inWorkspace(address);
    const picture = path && (await pictureAt(path).catch(() => undefined));
    if (picture) found.set(address, picture);
  }
  return found;
}

async function pictureAt(path: string): Promise<Picture> {
  const content = await (await files.read(path)).blob();
  const address = URL.createObjectURL(content);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    // A drawing without a size of its own gets the one that browsers give it.
    const width = image.naturalWidth || 300;
    const height = image.naturalHeight || 150;
    const data = new Uint8Array(await content.arrayBuffer());
    const type = typeOf(data);
    if (type) return { type, data, width, height };
    return { type: "png", data: await drawn(image, width, height), width, height };
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** What a picture is by its first bytes, if every word processor reads it. */
function typeOf(data: Uint8Array): Picture["type"] | undefined {
  const begins = (...bytes: number[]) => bytes.every((b, i) => data[i] === b);
  if (begins(0x89, 0x50, 0x4e, 0x47)) return "png";
  return begins(0xff, 0xd8, 0xff) ? "jpg" : undefined;
}

/** Any other picture, drawn. */
async function drawn(image: HTMLImageElement, width: number, height: number): Promise<Uint8Array> {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  return new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
}
