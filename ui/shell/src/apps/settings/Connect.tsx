import { CircleAlert, CircleCheck } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { explain, isAbout } from "#base/domain/problem.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import {
  type Connected,
  emptyForm,
  type Form,
  modelsOf,
  nameFor,
  priceAsked,
  requestOf,
  serviceOf,
  services,
  testWords,
} from "../../domain/connect";
import type { Settings } from "../../domain/settings";
import { useStore } from "../../state/store";
import { connectModel } from "../../transport/settings";
import { t } from "../../words/late";
import { ConnectFields } from "./ConnectFields";

type Outcome = { done: Connected; tested: boolean } | { failed: unknown };

/** A form that tests a model service with its key, and puts it in force. */
export function Connect({ settings, onConnected }: { settings: Settings; onConnected(settings: Settings): void }) {
  const computer = useStore((s) => s.computer?.id ?? "");
  const [form, setForm] = useState<Form>(() => emptyForm("anthropic"));
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const change = (part: Partial<Form>) => {
    setForm({ ...form, ...part });
    setOutcome(undefined);
  };
  const connect = async (untested: boolean) => {
    setBusy(true);
    setOutcome(undefined);
    try {
      const done = await connectModel(requestOf(form, key, computer, untested));
      setKey("");
      setOutcome({ done, tested: !untested });
      onConnected(done.settings);
    } catch (failed) {
      setOutcome({ failed });
    } finally {
      setBusy(false);
    }
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    unawaited(connect(false));
  };
  const service = serviceOf(form.service);
  const failed = outcome && "failed" in outcome;
  const asksPrice = priceAsked(form, settings.known);
  const priceless = failed && asksPrice && isAbout(outcome.failed, "price") ? words(outcome.failed) : undefined;
  const old = settings.providers.find((p) => p.set === "page" && p.name === nameFor(form));
  return (
    <form className="connect" onSubmit={submit} aria-label={t("models.connect")} autoComplete="off">
      <h2>{t("models.connect")}</h2>
      <label>
        <span>{t("models.service")}</span>
        <select
          value={form.service}
          onChange={(e) => {
            change(emptyForm(e.target.value as Form["service"]));
            setKey(""); // it is not for the other service to see
          }}
          disabled={busy}
        >
          {services.map(({ id, title }) => (
            <option key={id} value={id}>
              {title ?? t("models.compatible")}
            </option>
          ))}
        </select>
      </label>
      <ConnectFields
        form={form}
        service={service}
        keyGiven={key}
        keyKept={Boolean(old?.key.present && old.key.kind === "kept")}
        models={modelsOf(form.service, settings.known)}
        asksPrice={asksPrice}
        priceless={priceless}
        disabled={busy}
        onChange={change}
        onKey={(given) => {
          setKey(given);
          setOutcome(undefined);
        }}
      />
      <div className="connect-row">
        <Button type="submit" look="primary" disabled={busy}>
          {busy ? t("models.testing") : t("models.testConnect")}
        </Button>
        {failed && !priceless && (
          <Button disabled={busy} onClick={() => unawaited(connect(true))}>
            {t("models.connectUntested")}
          </Button>
        )}
        <small>{t("models.testMore")}</small>
      </div>
      {!priceless && <Told outcome={outcome} settings={settings} />}
    </form>
  );
}

/** What was refused and what helps, in sentences. */
function words(failed: unknown): string {
  const { title, remedy } = explain(failed);
  return remedy ? t("models.refusedRemedy", { title, remedy }) : t("models.refused", { title });
}

/** What became of the press, below its button; it takes the focus, which the button lost. */
function Told({ outcome, settings }: { outcome: Outcome | undefined; settings: Settings }) {
  const told = useRef<HTMLParagraphElement>(null);
  // The form may be taller than the page.
  useEffect(() => {
    if (outcome) told.current?.focus();
  }, [outcome]);
  // What was connected is listed above the form, and moves it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings are another length of the page
  useEffect(() => {
    if (document.activeElement === told.current) told.current?.scrollIntoView({ block: "nearest" });
  }, [settings]);
  if (!outcome) return null;
  const failed = "failed" in outcome;
  const Mark = failed ? CircleAlert : CircleCheck;
  return (
    <p
      ref={told}
      className={`connect-told ${failed ? "connect-failed" : "connect-done"}`}
      role={failed ? "alert" : "status"}
      tabIndex={-1}
    >
      <Mark size={16} aria-hidden />
      <span>{failed ? words(outcome.failed) : doneWords(outcome)}</span>
    </p>
  );
}

/** What was tested and is in force, in sentences. */
function doneWords({ done, tested }: { done: Connected; tested: boolean }): string {
  const test = tested ? testWords(done) : t("models.untested");
  return t("models.connected", { test, message: done.settings.models.message });
}
