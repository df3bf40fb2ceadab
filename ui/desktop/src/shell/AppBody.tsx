import { type ComponentType, lazy, memo, Suspense } from "react";
import { Boundary } from "../app/Boundary";
import { apps } from "../apps/registry";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { Empty, Loading } from "../kit/States";

const bodies = new Map<string, ComponentType>(apps.map((app) => [app.id, lazy(app.load)]));

/** The app of a window, loaded when it is first opened. It is drawn apart from its frame. */
export const AppBody = memo(function AppBody({ app }: { app: string }) {
  const t = useWords(deskWords);
  const Body = bodies.get(app);
  if (!Body) return <Empty title={t("unknownApp", { app })} />;
  return (
    <Boundary app>
      <Suspense fallback={<Loading />}>
        <Body />
      </Suspense>
    </Boundary>
  );
});
