import { ShieldAlert, ShieldCheck } from "lucide-react";
import { lazy, Suspense } from "react";
import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
import { Popover } from "../../kit/Popover";
import { useStore } from "../../state/store";
import { t } from "../../words/words";

const Sandboxes = lazy(() => import("./Sandboxes"));

/** How well agents are shut in; more when asked. */
export function Isolation() {
  const computer = useStore((s) => s.computer);
  if (!computer) return null;
  const missing = computer.isolation.some((s) => s.level.missing?.length);
  const driver = computer.isolation.find((s) => s.level.driver)?.level.driver;
  const name = named(names.sandboxed);
  const sandboxed = missing ? t("bar.withGaps") : name;
  const warn = missing || !driver ? "header-warn" : "";
  const Icon = warn ? ShieldAlert : ShieldCheck;
  const popover = (
    <Popover
      label={name}
      className={warn}
      trigger={
        <>
          <Icon size={16} aria-hidden />
          <span className="header-word">{driver ? sandboxed : t("bar.noSandbox")}</span>
          <span className="visually-hidden">{t("bar.showDetails")}</span>
        </>
      }
    >
      <Suspense>
        <Sandboxes computer={computer} />
      </Suspense>
    </Popover>
  );
  if (!computer.asks && !computer.approvals) return popover;
  return (
    <>
      <Suspense>
        <Sandboxes computer={computer} asked />
      </Suspense>
      {popover}
    </>
  );
}
