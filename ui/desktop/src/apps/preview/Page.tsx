import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { unawaited } from "#base/kit/unawaited.ts";
import { useWords } from "../../i18n/words";
import { Loading, Trouble } from "../../kit/States";
import { useWindow } from "../../session/useWindow";
import { openPreview } from "../../transport/previews";
import { words } from "./i18n";
import { addressOf, type Place } from "./place";

/**
 * What listens at a port, on an origin of its own, which it therefore keeps. It
 * reaches neither the desktop nor the page at the top. When nothing listens,
 * the server says so in its place.
 */
export function Page({ place, visit }: { place: Place; visit: number }) {
  const { id: window } = useWindow();
  const t = useWords(words);
  const [entered, setEntered] = useState<string>();
  const { data, error, refetch } = useQuery({
    // A ticket is for one visit of one window.
    queryKey: ["preview", window, addressOf(place), visit],
    queryFn: ({ signal }) => openPreview(place.port, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!data) return <Loading />;
  // The ticket leads to the first page; only then another one can be asked for.
  const follow = () => place.path !== "/" && setEntered(new URL(data).origin + place.path);
  return (
    <iframe
      key={data}
      className="preview-page"
      title={t("page", { address: addressOf(place) })}
      sandbox="allow-scripts allow-forms allow-same-origin"
      referrerPolicy="no-referrer"
      src={entered ?? data}
      onLoad={entered ? undefined : follow}
    />
  );
}
