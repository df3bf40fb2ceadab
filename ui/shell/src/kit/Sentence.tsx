import { Fragment, type ReactNode } from "react";
import { type Key, openText } from "../words/words";

/** A sentence of the catalogue with elements in its holes; what stands between backticks is set as code. */
export function Sentence({ of, holes = {}, n }: { of: Key; holes?: Readonly<Record<string, ReactNode>>; n?: number }) {
  const put = (text: string): ReactNode[] =>
    text.split(/(\{\w+\})/).map((part) => (/^\{\w+\}$/.test(part) ? holes[part.slice(1, -1)] : part));
  const pieces = openText(of, n === undefined ? {} : { n }).split("`");
  return pieces.map((piece, at) => {
    const inside = put(piece).map((node, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a sentence never change places
      <Fragment key={i}>{node}</Fragment>
    ));
    // biome-ignore lint/suspicious/noArrayIndexKey: as above
    return at % 2 === 1 ? <code key={at}>{inside}</code> : <Fragment key={at}>{inside}</Fragment>;
  });
}
