import { useQuery } from "@tanstack/react-query";
import { Check, ChevronDown, Download, Monitor } from "lucide-react";
import type { Schema } from "#base/domain/operations.ts";
import { pathOf, type Route } from "../../domain/route";
import { Popover } from "../../kit/Popover";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { listComputers } from "../../transport/api";
import { t } from "../../words/words";

/** The name of the state of a computer that could be opened. */
function stateOf({ frozen, hibernated }: Schema<"ComputerView">) {
  if (hibernated) return "bar.hibernated";
  return frozen ? "bar.frozen" : "bar.ready";
}

/** Which computer this is, the way to the others, and what can be done with a whole one. */
export function Computers() {
  const session = useSession();
  const mine = useStore((s) => s.computer);
  // From the desktop to the other's desktop, from its runs to the other's runs.
  const page: Route = useStore((s) => s.route.page === "desktop") ? { page: "desktop" } : { page: "runs" };
  const { data: computers = [] } = useQuery({
    queryKey: ["computers"],
    queryFn: listComputers,
    // The page has just read them to open one.
    staleTime: 10_000,
  });
  if (!mine) return null;
  return (
    <div className="header-computers">
      <Popover
        label={t("bar.computers")}
        trigger={
          <>
            <span className="computers-name">{mine.name}</span>
            <ChevronDown size={15} aria-hidden className="computers-turn" />
            <span className="visually-hidden">{t("bar.showComputers")}</span>
          </>
        }
      >
        {computers.length > 1 && (
          <ul aria-label={t("bar.yourComputers")}>
            {computers.map((c, i) => (
              <li key={c.id}>
                {/* A page of its own, so that two can stand side by side. */}
                <a
                  className="computers-item"
                  href={`${pathOf(page)}${i === 0 ? "" : `?computer=${c.id}`}`}
                  aria-current={c.id === mine.id ? "true" : undefined}
                >
                  {c.id === mine.id ? (
                    <Check size={16} aria-hidden className="computers-icon" />
                  ) : (
                    <Monitor size={16} aria-hidden className="computers-icon" />
                  )}
                  <span>{c.name}</span>
                  <small>
                    {!c.failed && `${t(stateOf(c))} · `}
                    {t("bar.eventsCount", { n: c.head })}
                  </small>
                </a>
              </li>
            ))}
          </ul>
        )}
        <div className={computers.length > 1 ? "computers-export" : ""}>
          <a className="computers-item" href={session.api.archive} download="computer.choir">
            <Download size={16} aria-hidden className="computers-icon" />
            <span>{t("bar.exportAll")}</span>
          </a>
          <p>{t("bar.exportMore")}</p>
        </div>
      </Popover>
    </div>
  );
}
