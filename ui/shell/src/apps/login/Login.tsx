import { useEffect, useState } from "react";
import { explain } from "#base/domain/problem.ts";
import { login } from "../../transport/api";
import "../../styles/notice.css";

/**
 * Trades the token behind # for a session; without one it says where the link
 * is, or that the browser did not keep the session it was given.
 */
export default function Login({ onDone, unkept = false }: { onDone(): void; unkept?: boolean }) {
  const [trouble, setTrouble] = useState<{ title: string; remedy?: string }>();
  const [trying, setTrying] = useState(location.hash.length > 1);
  useEffect(() => {
    const token = location.hash.slice(1);
    if (!token) return;
    // The token is taken out of the address and the history at once.
    history.replaceState(null, "", "/login");
    login(token)
      .then(() => {
        history.replaceState(null, "", "/");
        onDone();
      })
      .catch((error) => {
        setTrouble(explain(error));
        setTrying(false);
      });
  }, [onDone]);
  return (
    <main className="login">
      <img src="/icon.svg" alt="" width="52" height="52" />
      <h1>{trying ? "Logging in…" : "You are not logged in"}</h1>
      {trouble && (
        <p role="alert" className="login-trouble">
          {trouble.title}. {trouble.remedy}
        </p>
      )}
      {unkept && <Unkept />}
      {!trying && trouble && <a href="/">Go on with the session of this browser</a>}
      {!trying && !unkept && (
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
