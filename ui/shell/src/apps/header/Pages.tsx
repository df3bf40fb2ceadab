import { AppWindow, History, KeyRound, LifeBuoy, ListTree, Menu } from "lucide-react";
import { names } from "#base/domain/names.ts";
import { type Named, named } from "#base/domain/words.ts";
import { usePhone } from "#base/kit/useWidth.ts";
import type { Route } from "../../domain/route";
import { Popover } from "../../kit/Popover";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";

const pages = [
  { name: names.desktop, icon: AppWindow, route: { page: "desktop" } },
  { name: names.timeline, icon: History, route: { page: "time" } },
  { name: names.runs, icon: ListTree, route: { page: "runs" } },
  { name: names.recover, icon: LifeBuoy, route: { page: "recover" } },
  { name: names.models, icon: KeyRound, route: { page: "models", section: "models" } },
] as const satisfies readonly { name: Named; icon: unknown; route: Route }[];

/** What a page is called. */
export function titleOf(route: Route): string | undefined {
  const page = pages.find((p) => p.route.page === (route.page === "run" ? "runs" : route.page));
  return page && named(page.name);
}

/** The desktop and the pages of the shell; on a phone they are in a menu, so that the computer's name has room. */
export function Pages() {
  if (!usePhone()) return <Links />;
  return (
    <Popover
      label={t("bar.pages")}
      trigger={
        <>
          <Menu size={18} aria-hidden />
          <span className="visually-hidden">{t("bar.pages")}</span>
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
    <nav className="pages" aria-label={t("bar.pagesOf", { bar: named(names.topBar) })}>
      {pages.map(({ name, icon: Icon, route }) => (
        <a
          key={route.page}
          href={session.addressOf(route)}
          title={named(name)}
          aria-current={page === route.page ? "page" : undefined}
          onClick={(e) => {
            e.preventDefault();
            session.go(route);
            onGo?.();
          }}
        >
          <Icon size={16} aria-hidden />
          <span className="header-word">{named(name)}</span>
        </a>
      ))}
    </nav>
  );
}
