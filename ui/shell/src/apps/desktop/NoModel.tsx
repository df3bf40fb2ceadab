import { useState } from "react";
import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
import type { Route } from "../../domain/route";
import { missing } from "../../domain/unconnected";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import { HideNote } from "./HideNote";

const route: Route = { page: "models", section: "models" };

/** Says above the desktop that no model is connected, and leads to where one is. What to do meanwhile the desktop offers. */
export function NoModel() {
  const session = useSession();
  const models = useStore((s) => s.computer?.models);
  const [away, setAway] = useState(false);
  if (!models || models.connected || away) return null;
  const go = (e: React.MouseEvent) => {
    e.preventDefault();
    session.go(route);
  };
  return (
    <section className="desktop-note" aria-label={t("desktop.noModel")}>
      <p>
        {missing(models)}{" "}
        <a href={session.addressOf(route)} onClick={go}>
          {named(names.models)}
        </a>
      </p>
      <HideNote onHide={() => setAway(true)} />
    </section>
  );
}
