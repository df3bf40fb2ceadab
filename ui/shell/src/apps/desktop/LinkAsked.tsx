import { ExternalLink } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { readLink } from "../../domain/link";
import { Sentence } from "../../kit/Sentence";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import { HideNote } from "./HideNote";

/** How long the address is shown before it can be opened, in milliseconds: a click meant for something else opens nothing. */
const READ_MS = 700;

/** Shows where a link leads, and opens it when the owner says so: the address may carry what an agent knows. */
export function LinkAsked() {
  const address = useStore((s) => s.link);
  return address ? <Asked key={address} address={address} /> : null;
}

function Asked({ address }: { address: string }) {
  const forget = useStore((s) => s.forgetLink);
  const [read, setRead] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRead(true), READ_MS);
    return () => clearTimeout(timer);
  }, []);
  const open = () => {
    window.open(address, "_blank", "noopener,noreferrer");
    forget();
  };
  return (
    <section className="desktop-note" aria-label={t("desktop.linkAsked")} aria-live="polite">
      <p>
        <Sentence of="desktop.linkQuestion" holes={{ address: <code className="link-asked">{address}</code> }} />
      </p>
      <Button look="primary" disabled={!read} onClick={open}>
        <ExternalLink size={15} aria-hidden /> {t("desktop.newTab")}
      </Button>
      <HideNote onHide={forget} />
    </section>
  );
}

/** Has the links in what guests wrote shown before they are opened, in the shell's own pages too. */
export function useLinks(): void {
  const ask = useStore((s) => s.askLink);
  useEffect(() => {
    const ended = new AbortController();
    const follow = (e: MouseEvent) => {
      const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>('a[href][target="_blank"]') : null;
      const address = link && readLink(link.href);
      if (!link || e.button > 1) return;
      e.preventDefault();
      if (address) ask(address);
    };
    for (const kind of ["click", "auxclick"] as const)
      document.addEventListener(kind, follow, { signal: ended.signal });
    return () => ended.abort();
  }, [ask]);
}
