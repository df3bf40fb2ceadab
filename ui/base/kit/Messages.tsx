import { useEffect, useState } from "react";
import type { ToasterProps } from "sonner";
import { showMessages } from "./notify";

/** Milliseconds until the code is asked for again. */
const RETRY_MS = 2000;

type Sonner = typeof import("sonner");

/** The place of the page's messages. Its code comes when the page is there, before anything is said. */
export function Messages(props: ToasterProps) {
  const [sonner, setSonner] = useState<Sonner>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let here = true;
    const fetchCode = () => {
      import("sonner").then(
        (module) => here && setSonner(module),
        // Without its server the page says so in its bar, and the messages of meanwhile wait.
        () => {
          if (here) timer = setTimeout(fetchCode, RETRY_MS);
        },
      );
    };
    fetchCode();
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, []);
  useEffect(() => {
    if (sonner) showMessages(sonner.toast);
  }, [sonner]);
  return sonner && <sonner.Toaster {...props} />;
}
