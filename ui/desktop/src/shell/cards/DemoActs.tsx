import { FastForward, OctagonX, X } from "lucide-react";
import { useState } from "react";
import { isOpen } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import type { Card } from "../../domain/card";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useSession } from "../../session/session";
import { api } from "../../transport/api";

/** What can be done with a demo at any moment: have it faster, stop it, and at its end close all that it opened. */
export function DemoActs({ card }: { card: Card }) {
  const t = useWords(deskWords);
  const { demo } = useSession();
  const [fast, setFast] = useState(false);
  const does = (what: Promise<unknown>) => {
    // The buttons go away with the demo.
    document.getElementById("prompt")?.focus();
    what.catch(notifyProblem);
  };
  const hurry = () => {
    setFast(true);
    does(api.hurry(card.run));
  };
  return (
    <div className="card-demo">
      {isOpen(card.state) ? (
        <>
          <Button look="primary" disabled={fast} onClick={hurry}>
            <FastForward size={15} aria-hidden /> {t("faster")}
          </Button>
          <Button look="danger" disabled={card.now?.kind === "stopping"} onClick={() => does(api.cancel(card.run))}>
            <OctagonX size={15} aria-hidden /> {t("stop")}
          </Button>
        </>
      ) : (
        <Button onClick={() => does(demo.clear(card.run))}>
          <X size={15} aria-hidden /> {t("closeDemo")}
        </Button>
      )}
    </div>
  );
}
