import { type ClipboardEvent, type DragEvent, type ReactNode, useState } from "react";
import { notifyDone, notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { addressIn } from "../domain/offer";
import { asPart } from "../domain/path";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { upload } from "../transport/files";

/** What was pasted or dropped. */
type Offer = { address: string } | { files: File[] };

interface Pasting {
  /** Buttons for what can be done with it. */
  offer: ReactNode;
  onPaste(e: ClipboardEvent): void;
  onDragOver(e: DragEvent): void;
  onDrop(e: DragEvent): void;
}

/** Something pasted or dropped at the prompt is offered for what it is. */
export function usePasting(write: (text: string) => void): Pasting {
  const t = useWords(deskWords);
  const [offer, setOffer] = useState<Offer>();
  const offered = (files: FileList): boolean => {
    if (files.length > 0) setOffer({ files: [...files] });
    return files.length > 0;
  };
  const keep = async (files: File[], ask: boolean) => {
    setOffer(undefined);
    try {
      // A name that is taken is refused, so nothing is lost.
      const paths = files.map((f) => `workspace/${asPart(f.name)}`);
      for (const [i, file] of files.entries()) await upload(paths[i] ?? "", file, () => {});
      notifyDone(t("offerKept", { path: paths.join(", ") }));
      if (ask) write(t("offerAskText", { what: paths.join(", ") }));
    } catch (error) {
      notifyProblem(error);
    }
  };
  const buttons: [string, () => void][] = !offer
    ? []
    : "address" in offer
      ? [
          [t("offerRead"), () => write(t("offerReadText", { what: offer.address }))],
          [t("offerSummarise"), () => write(t("offerSummariseText", { what: offer.address }))],
        ]
      : [
          [t("offerKeep", { n: offer.files.length }), () => unawaited(keep(offer.files, false))],
          [t("offerAsk", { n: offer.files.length }), () => unawaited(keep(offer.files, true))],
        ];
  return {
    offer: offer && (
      <fieldset className="offers">
        <legend className="visually-hidden">{t("offers")}</legend>
        <span>{"address" in offer ? offer.address : offer.files.map((f) => f.name).join(", ")}</span>
        {buttons.map(([label, act]) => (
          <button
            key={label}
            type="button"
            onClick={() => {
              setOffer(undefined);
              act();
            }}
          >
            {label}
          </button>
        ))}
        <button type="button" onClick={() => setOffer(undefined)}>
          {t("offerNone")}
        </button>
      </fieldset>
    ),
    onPaste(e) {
      const address = addressIn(e.clipboardData.getData("text/plain"));
      if (address) setOffer({ address });
      else if (offered(e.clipboardData.files)) e.preventDefault();
    },
    onDragOver: (e) => e.dataTransfer.types.includes("Files") && e.preventDefault(),
    onDrop: (e) => offered(e.dataTransfer.files) && e.preventDefault(),
  };
}
