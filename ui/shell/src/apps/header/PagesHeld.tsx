import { useQuery } from "@tanstack/react-query";
import { browserName, holdsPages } from "../../transport/held";

/** What pages that agents wrote can reach from this browser, which is outside of every sandbox. */
export function PagesHeld() {
  const { data: held } = useQuery({
    queryKey: ["held"],
    // Nothing is known before there is an answer.
    queryFn: async () => (await holdsPages()) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (held === undefined || held === null) return null;
  return (
    <div>
      <dt>Pages in this browser</dt>
      {held ? (
        <dd>The desktop and previews are held to this computer.</dd>
      ) : (
        <dd className="isolation-missing">
          This browser ({browserName(navigator.userAgent)}) does not hold WebRTC back: a page your agents wrote can
          reach the network. Chromium from version 156 on holds it.
        </dd>
      )}
    </div>
  );
}
