import { lazy, Suspense, useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import { HideNote } from "./HideNote";

const Upgrade = lazy(() => import("./Upgrade"));

/** Says above the desktop that choir carries a newer one than the changed one below, and offers it. */
export function Outdated() {
  const outdated = useStore((s) => s.source?.outdated ?? false);
  const [away, setAway] = useState(false);
  const [asking, setAsking] = useState(false);
  if (!outdated || away) return null;
  return (
    <section className="desktop-note" aria-label={t("desktop.newer")}>
      <p>{t("desktop.newerMore")}</p>
      <Button look="primary" onClick={() => setAsking(true)}>
        {t("desktop.seeChange")}
      </Button>
      <HideNote onHide={() => setAway(true)} />
      {asking && (
        <Suspense>
          <Upgrade onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </section>
  );
}
