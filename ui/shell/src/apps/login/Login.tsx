import { explain } from "#base/domain/problem.ts";
import { Sentence } from "../../kit/Sentence";
import { t } from "../../words/late";
import "../../styles/notice.css";

/**
 * Says that nobody is logged in, and where the link is. `refused` is why the link of
 * the address did not work; `unkept` says that the browser did not keep the session, and
 * `loggedIn` that it has one from before, which the link was not needed for.
 */
export default function Login({
  refused,
  unkept = false,
  loggedIn = false,
}: {
  refused?: unknown;
  unkept?: boolean;
  loggedIn?: boolean;
}) {
  const trouble = refused === undefined ? undefined : explain(refused);
  return (
    <main className="login">
      <img src="/icon.svg" alt="" width="52" height="52" />
      <h1>{loggedIn ? t("login.already") : t("login.not")}</h1>
      {trouble && (
        <p role="alert" className="login-trouble">
          {trouble.title}. {trouble.remedy}
        </p>
      )}
      {unkept && <Unkept />}
      {loggedIn && <a href="/">{t("login.goOn")}</a>}
      {!unkept && !loggedIn && (
        <p>
          <Sentence of="login.openLink" />
        </p>
      )}
    </main>
  );
}

function Unkept() {
  return (
    <>
      <p role="alert" className="login-trouble">
        {t("login.unkept")}
      </p>
      <p>
        <Sentence of="login.unkeptMore" holes={{ host: location.hostname }} />
      </p>
    </>
  );
}
