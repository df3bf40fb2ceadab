import { memo } from "react";
import { bodyOf } from "../apps/bodies";
import { appOf } from "../apps/registry";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { Boundary } from "../kit/Boundary";
import { Empty } from "../kit/States";
import { past } from "../transport/address";

/** The app of a window, loaded when it is first opened. It is drawn apart from its frame. */
export const AppBody = memo(function AppBody({ app }: { app: string }) {
  const t = useWords(deskWords);
  const named = useNamed();
  const Body = bodyOf(app);
  const manifest = appOf(app);
  if (!Body || !manifest) return <Empty title={t("unknownApp", { app })} />;
  if (past && !manifest.past) return <Empty title={t("notKept", { app: named(manifest.title) })} />;
  return (
    <Boundary app>
      <Body />
    </Boundary>
  );
});
