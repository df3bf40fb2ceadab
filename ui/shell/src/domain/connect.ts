import type { Schema } from "#base/domain/operations.ts";
import { t } from "../words/late";
import type { KnownModel, Part } from "./settings";
import { dollars, fixed } from "./time";

/** The services that can be connected: how each is called, and what its form asks for. */
export const services = [
  { id: "anthropic", title: "Anthropic", kind: "anthropic", model: "claude-sonnet-4-5", of: /^claude-/ },
  { id: "openai", title: "OpenAI", kind: "openai", model: "gpt-5", of: /^gpt-/ },
  {
    id: "compatible",
    title: undefined,
    kind: "openai",
    model: "",
    of: /^(?!claude-|gpt-)/,
    address: true,
  },
  { id: "bedrock", title: "Amazon Bedrock", kind: "bedrock", model: "", of: /^$/, region: true },
] as const satisfies readonly Service[];

interface Service {
  id: string;
  /** What it calls itself; undefined for those with no name of their own. */
  title: string | undefined;
  kind: ConnectRequest["kind"];
  /** What the form begins with. */
  model: string;
  /** Which of the models with a known price it has. */
  of: RegExp;
  address?: boolean;
  region?: boolean;
}

/** One of the services that can be connected. */
export type ServiceID = (typeof services)[number]["id"];

/** What stands in the form. The key is in none of this. */
export interface Form {
  service: ServiceID;
  model: string;
  address: string;
  region: string;
  uses: "both" | Part;
  free: boolean;
  input: string;
  output: string;
}

/** What the server is asked for. */
export type ConnectRequest = Schema<"ConnectRequest">;

/** What the server says of a service that it has connected. */
export type Connected = Schema<"Connected">;

/** The service with an id. */
export function serviceOf(id: ServiceID): Service {
  return services.find((s) => s.id === id) ?? services[0];
}

/** The form of a service before anybody wrote into it. */
export function emptyForm(service: ServiceID): Form {
  const { model } = serviceOf(service);
  return { service, model, address: "", region: "", uses: "both", free: false, input: "", output: "" };
}

/** The models of a service whose price is known. */
export function modelsOf(service: ServiceID, known: readonly KnownModel[]): KnownModel[] {
  const { of } = serviceOf(service);
  return known.filter(({ model }) => of.test(model));
}

/** Whether a model's price has to be asked for: it is in no list, whole or with a version behind it. */
export function priceAsked({ model, free }: Form, known: readonly KnownModel[]): boolean {
  const bare = model.slice(model.lastIndexOf("/") + 1).replace(/^([a-z-]+\.)?anthropic\./, "");
  return model !== "" && !free && !known.some((k) => bare === k.model || bare.startsWith(`${k.model}-`));
}

/** The name of a connection: that of the service, or of the host where it is. */
export function nameFor({ service, address }: Form): string {
  if (service !== "compatible") return service;
  try {
    const { host } = new URL(address);
    return (
      host
        .toLowerCase()
        .replace(/[^a-z0-9.]+/g, "-")
        .replace(/^[.-]+|-+$/g, "")
        .slice(0, 64) || "compatible"
    );
  } catch {
    return "compatible";
  }
}

/** The request that a form stands for. */
export function requestOf(form: Form, key: string, computer: string, untested: boolean): ConnectRequest {
  const { kind } = serviceOf(form.service);
  const { address, region, input, output } = form;
  return {
    name: nameFor(form),
    kind,
    model: form.model.trim(),
    uses: form.uses === "both" ? ["director", "associate"] : [form.uses],
    computer,
    ...(address.trim() ? { address: address.trim() } : {}),
    ...(region.trim() ? { region: region.trim() } : {}),
    ...(key.trim() ? { key: key.trim() } : {}),
    ...(form.free ? { free: true } : {}),
    ...(!form.free && input !== "" && output !== "" ? { price: { input: Number(input), output: Number(output) } } : {}),
    ...(untested ? { untested: true } : {}),
  };
}

/** What a test that went well says. */
export function testWords({ model, duration_ms, input_tokens, output_tokens, cost_usd }: Connected): string {
  const cost = cost_usd > 0 ? dollars(cost_usd, 0, 6) : t("models.nothing");
  const tokens = String(input_tokens + output_tokens);
  return t("models.tested", { model, seconds: fixed(duration_ms / 1000, 1), tokens, cost });
}
