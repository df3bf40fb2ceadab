import { useEffect, useRef } from "react";
import type { Form, serviceOf } from "../../domain/connect";
import type { KnownModel } from "../../domain/settings";
import { dollars } from "../../domain/time";
import { t } from "../../words/late";

interface Props {
  form: Form;
  service: ReturnType<typeof serviceOf>;
  keyGiven: string;
  /** A key of this service is kept already. */
  keyKept: boolean;
  models: readonly KnownModel[];
  asksPrice: boolean;
  /** Why it is not connected without a price, once that was tried. */
  priceless: string | undefined;
  disabled: boolean;
  onChange(part: Partial<Form>): void;
  onKey(key: string): void;
}

/** The fields of the form that connects a model, as far as its service needs them. */
export function ConnectFields(props: Props) {
  const { form, service, models, asksPrice, disabled, onChange } = props;
  const price = models.find((m) => m.model === form.model);
  return (
    <fieldset className="connect-fields" disabled={disabled}>
      {service.address && (
        <label>
          <span>{t("models.address")}</span>
          <input
            type="url"
            required
            value={form.address}
            placeholder="http://127.0.0.1:11434/v1"
            spellCheck={false}
            onChange={(e) => onChange({ address: e.target.value })}
          />
        </label>
      )}
      {service.region && (
        <label>
          <span>{t("models.region")}</span>
          <input
            required
            value={form.region}
            placeholder="us-east-1"
            spellCheck={false}
            onChange={(e) => onChange({ region: e.target.value })}
          />
        </label>
      )}
      <KeyField {...props} />
      <div className="connect-field">
        <label>
          <span>{t("models.model")}</span>
          <input
            required
            list="connect-models"
            value={form.model}
            spellCheck={false}
            aria-describedby="connect-price"
            onChange={(e) => onChange({ model: e.target.value })}
          />
        </label>
        <datalist id="connect-models">
          {models.map((m) => (
            <option key={m.model} value={m.model}>
              {t("models.priceShort", { input: dollars(m.input, 0, 6), output: dollars(m.output, 0, 6) })}
            </option>
          ))}
        </datalist>
        <small id="connect-price">
          {price && t("models.listPrice", { input: dollars(price.input, 0, 6), output: dollars(price.output, 0, 6) })}
        </small>
      </div>
      {(asksPrice || form.free) && <PriceFields {...props} />}
      <label>
        <span>{t("models.usedBy")}</span>
        <select value={form.uses} onChange={(e) => onChange({ uses: e.target.value as Form["uses"] })}>
          <option value="both">{t("models.both")}</option>
          <option value="director">{t("models.directorOnly")}</option>
          <option value="associate">{t("models.associateOnly")}</option>
        </select>
      </label>
      {!service.address && (
        <details className="connect-more">
          <summary>{t("models.otherAddress")}</summary>
          <label>
            <span>{t("models.address")}</span>
            <input
              type="url"
              value={form.address}
              placeholder={t("models.ownAddressHint")}
              spellCheck={false}
              onChange={(e) => onChange({ address: e.target.value })}
            />
          </label>
        </details>
      )}
    </fieldset>
  );
}

function KeyField({ service, keyGiven, keyKept, onKey }: Props) {
  const bedrock = service.kind === "bedrock";
  const needed = !service.address && !keyKept;
  return (
    <div className="connect-field">
      <label>
        <span>{t("models.key")}</span>
        <input
          type="password"
          required={needed}
          value={keyGiven}
          placeholder={keyKept ? t("models.keyKept") : service.address ? t("models.keyNone") : ""}
          autoComplete="off"
          spellCheck={false}
          aria-describedby="connect-key"
          onChange={(e) => onKey(e.target.value)}
        />
      </label>
      <small id="connect-key">
        {bedrock && t("models.keyBedrock")}
        {t("models.keyMore")}
      </small>
    </div>
  );
}

/** Asks what a model costs whose list price is not known: without it no budget could hold. */
function PriceFields({ form, priceless, onChange }: Props) {
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!priceless) return;
    // The words above the field come into sight with it.
    fields.current?.scrollIntoView({ block: "nearest" });
    fields.current?.querySelector("input")?.focus({ preventScroll: true });
  }, [priceless]);
  const amount = (of: "input" | "output", title: string) => (
    <label>
      <span>{title}</span>
      <input
        type="number"
        min="0"
        max="1000000"
        step="any"
        inputMode="decimal"
        aria-invalid={Boolean(priceless)}
        aria-describedby="connect-priceless"
        disabled={form.free}
        value={form[of]}
        onChange={(e) => onChange({ [of]: e.target.value })}
      />
    </label>
  );
  return (
    <div ref={fields} className="connect-price">
      <p id="connect-priceless" className={priceless && "connect-told connect-failed"} role={priceless && "alert"}>
        {priceless ?? t("models.priceUnknown")}
      </p>
      {amount("input", t("models.priceInput"))}
      {amount("output", t("models.priceOutput"))}
      <label className="connect-free">
        <input type="checkbox" checked={form.free} onChange={(e) => onChange({ free: e.target.checked })} />{" "}
        {t("models.free")}
      </label>
    </div>
  );
}
