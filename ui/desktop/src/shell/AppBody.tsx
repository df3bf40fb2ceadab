import { memo } from "react";
import { Boundary } from "../app/Boundary";
import { bodyOf } from "../apps/bodies";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { Empty } from "../kit/States";

/** The app of a window, loaded when it is first opened. It is drawn apart from its frame. */
export const AppBody = memo(function AppBody({ app }: { app: string }) {
  const t = useWords(deskWords);
  const Body = bodyOf(app);
  if (!Body) return <Empty title={t("unknownApp", { app })} />;
  return (
    <Boundary app>
      <Body />
    </Boundary>
  );
});
