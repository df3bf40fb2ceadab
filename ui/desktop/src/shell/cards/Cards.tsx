import { ChevronUp } from "lucide-react";
import { useRef, useState } from "react";
import { isOpen } from "#base/domain/views.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useSession } from "../../session/session";
import { CardView } from "./CardView";
import { useRoom } from "./useRoom";
import { useStack } from "./useStack";
import "./cards.css";

/** Cards that are seen before the others are asked for. */
const SEEN = 3;

/** What was asked here and elsewhere, above the prompt, until it is put away: the newest is next to the prompt. */
export default function Cards() {
  const t = useWords(deskWords);
  const session = useSession();
  const [all, setAll] = useState(false);
  const stack = useStack();
  const section = useRef<HTMLElement>(null);
  const room = useRoom(section, stack.length > 0);
  const ended = stack.filter(({ card }) => !isOpen(card.state));
  // What is at work or lies open is always seen.
  const seen = stack.filter((s, i) => all || s.unfolded || isOpen(s.card.state) || i >= stack.length - SEEN);
  const hidden = stack.length - seen.length;
  const closeAll = () => {
    document.getElementById("prompt")?.focus();
    Promise.all(ended.map(({ card }) => session.dismiss(card.run))).catch(notifyProblem);
  };
  if (stack.length === 0) return null;
  return (
    <section className="cards" ref={section} style={room} data-all={all} aria-label={t("progress")}>
      {(hidden > 0 || ended.length > SEEN) && (
        <p className="cards-more">
          {hidden > 0 && (
            <button type="button" onClick={() => setAll(true)}>
              <ChevronUp size={15} aria-hidden /> {t("moreCards", { n: hidden })}
            </button>
          )}
          <button type="button" onClick={closeAll}>
            {t("closeCards")}
          </button>
        </p>
      )}
      {seen.map(({ card, unfolded }) => (
        <CardView key={card.run} card={card} unfolded={unfolded} />
      ))}
    </section>
  );
}
