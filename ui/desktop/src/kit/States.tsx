import { CircleAlert, FileWarning, FileX2 } from "lucide-react";
import type { ReactNode } from "react";
import { explain, isGone } from "#base/domain/problem.ts";
import { Button } from "#base/kit/Button.tsx";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { tellShell } from "../transport/shell";
import { useLate } from "./useLate";
import "./states.css";

/** Nothing is there yet, and what can be done about it. */
export function Empty({ icon, title, children }: { icon?: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className="state" data-state="empty">
      {icon && <span className="state-icon-large">{icon}</span>}
      <p className="state-title">{title}</p>
      {children && <div className="state-more">{children}</div>}
    </div>
  );
}

/** It is being read; says so in sight once that takes longer than people wait. */
export function Loading({ label, late: known = false }: { label?: string; late?: boolean }) {
  const t = useWords(deskWords);
  const late = useLate() || known;
  return (
    <div className="state" data-state="loading" role="status">
      <span className="state-spinner" aria-hidden />
      <span className={late ? "state-why" : "visually-hidden"}>{late ? t("late") : (label ?? t("loading"))}</span>
    </div>
  );
}

/** It did not work, why, and the way to try it again. */
export function Failed({
  title,
  why,
  again,
  onAgain,
}: {
  title: string;
  why?: string;
  again: string;
  onAgain(): void;
}) {
  return (
    <div className="state" data-state="error" role="alert">
      <CircleAlert className="state-bad" size={26} aria-hidden />
      <p className="state-title">{title}</p>
      {why && <p className="state-why">{why}</p>}
      <Button onClick={onAgain}>{again}</Button>
    </div>
  );
}

/** What was opened is not there any more, and the timeline has it still; or, with the words for that, it never was. */
export function Gone({ never, onAgain }: { never?: string; onAgain(): void }) {
  const t = useWords(deskWords);
  return (
    <div className="state" data-state="gone" role="alert">
      <FileX2 className="state-icon-large" size={38} strokeWidth={1.4} aria-hidden />
      <p className="state-title">{never ?? t("gone")}</p>
      {!never && <p className="state-why">{t("goneMore")}</p>}
      <div className="state-acts">
        {!never && <Button onClick={() => tellShell({ kind: "open", page: "timeline" })}>{t("toTimeline")}</Button>}
        <Button onClick={onAgain}>{t("tryAgain")}</Button>
      </div>
    </div>
  );
}

/** It is too large to be shown here, and what can be done with it. */
export function TooLarge({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="state" data-state="large">
      <FileWarning className="state-icon-large" size={38} strokeWidth={1.4} aria-hidden />
      <p className="state-title">{title}</p>
      <div className="state-more">{children}</div>
    </div>
  );
}

/** What the server refused. */
export function Trouble({ error, onAgain }: { error: unknown; onAgain(): void }) {
  const t = useWords(deskWords);
  if (isGone(error)) return <Gone onAgain={onAgain} />;
  const { title, remedy } = explain(error);
  return <Failed title={title} {...(remedy ? { why: remedy } : {})} again={t("tryAgain")} onAgain={onAgain} />;
}
