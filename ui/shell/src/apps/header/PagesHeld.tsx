import { useQuery } from "@tanstack/react-query";
import { browserName, holdsPages } from "../../transport/held";
import { t } from "../../words/late";

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
      <dt>{t("sandboxes.pagesHere")}</dt>
      {held ? (
        <dd>{t("sandboxes.pagesHeld")}</dd>
      ) : (
        <dd className="isolation-missing">
          {t("sandboxes.pagesFree", { browser: browserName(navigator.userAgent) ?? t("sandboxes.thisBrowser") })}
        </dd>
      )}
    </div>
  );
}
