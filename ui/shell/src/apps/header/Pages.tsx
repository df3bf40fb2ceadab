import { AppWindow, History, KeyRound, LifeBuoy, ListTree, Menu } from "lucide-react";
import { names } from "#base/domain/names.ts";
import { usePhone } from "#base/kit/useWidth.ts";
import type { Route } from "../../domain/route";
import { Popover } from "../../kit/Popover";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";

const pages = [
  { title: names.desktop.en, icon: AppWindow, route: { page: "desktop" } },
  { title: names.timeline.en, icon: History, route: { page: "time" } },
  { title: names.runs.en, icon: ListTree, route: { page: "runs" } },
  { title: names.recover.en, icon: LifeBuoy, route: { page: "recover" } },
  { title: names.models.en, icon: KeyRound, route: { page: "models", section: "models" } },
] as const satisfies readonly { title: string; icon: unknown; route: Route }[];

/** What a page is called. */
export function titleOf(route: Route): string | undefined {
  return pages.find((p) => p.route.page === (route.page === "run" ? "runs" : route.page))?.title;
}

/** The desktop and the pages of the shell; on a phone they are in a menu, so that the computer's name has room. */
export function Pages() {
  if (!usePhone()) return <Links />;
  return (
    <Popover
      label="Pages"
      trigger={
        <>
          <Menu size={18} aria-hidden />
          <span className="visually-hidden">Pages</span>
        </>
      }
    >
      {(close) => <Links onGo={close} />}
    </Popover>
  );
}

function Links({ onGo }: { onGo?(): void }) {
  const session = useSession();
  const page = useStore((s) => (s.route.page === "run" ? "runs" : s.route.page));
  return (
    <nav className="pages" aria-label={`Pages of the ${names.topBar.en}`}>
      {pages.map(({ title, icon: Icon, route }) => (
        <a
          key={title}
          href={session.addressOf(route)}
          title={title}
          aria-current={page === route.page ? "page" : undefined}
          onClick={(e) => {
            e.preventDefault();
            session.go(route);
            onGo?.();
          }}
        >
          <Icon size={16} aria-hidden />
          <span className="header-word">{title}</span>
        </a>
      ))}
    </nav>
  );
}
