import { UserRound } from "lucide-react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { Popover } from "../../kit/Popover";
import { logout } from "../../transport/api";
import { shelf } from "../../transport/shelf";
import { t } from "../../words/words";

/** Who is logged in, and the way out. */
export function Who() {
  const logOut = () =>
    logout().then(() => {
      shelf.forget();
      location.assign("/login");
    }, notifyProblem);
  return (
    <Popover
      label={t("bar.who")}
      trigger={
        <>
          <UserRound size={16} aria-hidden />
          <span className="header-word">{t("bar.owner")}</span>
          <span className="visually-hidden">{t("bar.showSession")}</span>
        </>
      }
    >
      <h2>{t("bar.youAreOwner")}</h2>
      <p>{t("bar.letIn")}</p>
      <Button className="who-out" onClick={() => unawaited(logOut())}>
        {t("bar.logOut")}
      </Button>
    </Popover>
  );
}
