/** Width and height in pixels. */
export interface Pixels {
  width: number;
  height: number;
}

/** Pictures of up to so many pixels are drawn as they are; each pixel takes four bytes of memory. */
const WHOLE = 50_000_000;

/** Larger pictures are read once to make a smaller one of them, up to so many pixels. */
export const MOST_PIXELS = 400_000_000;

/** The longest side of such a smaller picture. */
const LONGEST = 4096;

/** How a picture of a size is shown: whole, as a smaller one, or not at all. */
export function shownAs(size: Pixels): "whole" | "never" | Pixels {
  const pixels = size.width * size.height;
  if (pixels <= WHOLE) return "whole";
  if (pixels > MOST_PIXELS) return "never";
  const scale = Math.min(1, LONGEST / Math.max(size.width, size.height));
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: side(size.width), height: side(size.height) };
}
