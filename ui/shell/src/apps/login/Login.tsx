import { explain } from "#base/domain/problem.ts";
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
      <h1>{loggedIn ? "You are logged in already" : "You are not logged in"}</h1>
      {trouble && (
        <p role="alert" className="login-trouble">
          {trouble.title}. {trouble.remedy}
        </p>
      )}
      {unkept && <Unkept />}
      {loggedIn && <a href="/">Go on with the session of this browser</a>}
      {!unkept && !loggedIn && (
        <p>
          Open the link that <code>choir up</code> printed. It works once; <code>choir up --link</code> prints a new
          one.
        </p>
      )}
    </main>
  );
}

function Unkept() {
  return (
    <>
      <p role="alert" className="login-trouble">
        This browser did not keep the session's cookie, which is a secure one.
      </p>
      <p>
        WebKit browsers such as GNOME Web keep none from an http address; others do, unless cookies are blocked. Allow
        cookies for {location.hostname} or use Firefox or Chromium, with a new link from <code>choir up --link</code>.
        The <code>choir</code> command line needs no browser.
      </p>
    </>
  );
}
