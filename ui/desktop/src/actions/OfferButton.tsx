import { Sparkles } from "lucide-react";
import { notifyDone } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useWords } from "../i18n/words";
import { type Entry, MenuButton } from "../kit/Menu";
import { useSession } from "../session/session";
import { type Matter, offersFor, offerWords, take } from "./offers";

/** What is offered for a matter, as entries of a menu, and what the menu is called. */
export function useOffers(): { label: string; entries(matter: Matter | (() => Matter)): Entry[] } {
  const session = useSession();
  const t = useWords(offerWords);
  const say = (asked: boolean) => asked && notifyDone(t("asked"));
  return {
    label: t("ask"),
    entries: (given) => {
      const matter = typeof given === "function" ? given : () => given;
      return offersFor(matter()).map((offer) => ({
        id: offer.id,
        label: t(offer.title),
        run: () => unawaited(take(offer, matter(), session).then(say)),
      }));
    },
  };
}

/** A button with everything that is offered for a matter, or for what it is once it is asked about. */
export function OfferButton({ matter }: { matter: Matter | (() => Matter) }) {
  const { label, entries } = useOffers();
  return (
    <MenuButton entries={() => entries(matter)}>
      <button type="button" className="tool" title={label}>
        <Sparkles size={16} aria-hidden /> {label}
      </button>
    </MenuButton>
  );
}
