import type { Schema } from "#base/domain/operations.ts";
import { t } from "../words/late";

/** A role with its models. */
export type ModelRole = Schema<"ModelRole">;

const named = { director: "models.director", associate: "models.associate", tool: "models.tool" } as const;

/** Whose models they are; a role of the owner's own has its own name. */
export function roleName({ role }: ModelRole): string {
  return Object.hasOwn(named, role) ? t(named[role as keyof typeof named]) : role;
}

/** What is set for the models of a role; empty when nothing is. */
export function roleSettings({ effort, temperature }: ModelRole): string {
  return [
    effort ? t("models.effort", { effort }) : "",
    temperature === undefined || temperature === null ? "" : t("models.temperature", { n: String(temperature) }),
  ]
    .filter(Boolean)
    .join(", ");
}
