import type { ModelState } from "#base/domain/views.ts";
import { t } from "../words/words";

/** What to say where no model is connected, or one of two. */
export function missing(models: ModelState | undefined): string {
  return models?.director || models?.associate ? models.message : t("desktop.noModelSaid");
}

/** The same where the recorded demo is offered beside it. */
export function unconnected(models: ModelState | undefined): string {
  const one = models?.director || models?.associate;
  return one ? missing(models) : t("desktop.demoWithout", { missing: missing(models) });
}
