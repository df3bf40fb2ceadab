import { useQuery } from "@tanstack/react-query";
import { browserName, holdsPages } from "../../transport/held";
import { t } from "../../words/words";

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
      <dt>{t("bar.pagesHere")}</dt>
      {held ? (
        <dd>{t("bar.pagesHeld")}</dd>
      ) : (
        <dd className="isolation-missing">
          {t("bar.pagesFree", { browser: browserName(navigator.userAgent) ?? t("bar.thisBrowser") })}
        </dd>
      )}
    </div>
  );
}
