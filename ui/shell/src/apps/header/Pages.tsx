import { AppWindow, History, LifeBuoy, ListTree, Menu, Settings } from "lucide-react";
import { usePhone } from "#base/kit/useWidth.ts";
import { useSession } from "../../app/session";
import type { Route } from "../../domain/route";
import { Popover } from "../../kit/Popover";
import { useStore } from "../../state/store";

const pages = [
  { title: "Desktop", icon: AppWindow, route: { page: "desktop" } },
  { title: "Timeline", icon: History, route: { page: "time" } },
  { title: "Plain view", icon: ListTree, route: { page: "home" } },
  { title: "Recover", icon: LifeBuoy, route: { page: "recover" } },
  { title: "Settings", icon: Settings, route: { page: "settings", section: "models" } },
] as const satisfies readonly { title: string; icon: unknown; route: Route }[];

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
  const page = useStore((s) => (s.route.page === "run" ? "home" : s.route.page));
  return (
    <nav className="pages" aria-label="Pages of the shell">
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
