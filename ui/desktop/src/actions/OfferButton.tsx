import { Sparkles } from "lucide-react";
import { useSession } from "../app/session";
import { useWords } from "../i18n/words";
import { type Entry, MenuButton } from "../kit/Menu";
import { notifyDone, notifyProblem } from "../kit/notify";
import { type Matter, offersFor, offerWords, take } from "./offers";

/** What is offered for a matter, as entries of a menu. */
export function useOffers(): (matter: Matter) => Entry[] {
  const session = useSession();
  const t = useWords(offerWords);
  return (matter) =>
    offersFor(matter).map((offer) => ({
      id: offer.id,
      label: t(offer.title),
      run: () =>
        void take(offer, matter, session).then((asked) => {
          if (asked) notifyDone(t("asked"));
        }, notifyProblem),
    }));
}

/** A button with everything that is offered for a matter. */
export function OfferButton({ matter }: { matter: Matter }) {
  const t = useWords(offerWords);
  const entries = useOffers()(matter);
  return (
    <MenuButton entries={entries}>
      <button type="button" className="tool" title={t("ask")}>
        <Sparkles size={16} aria-hidden /> {t("ask")}
      </button>
    </MenuButton>
  );
}
