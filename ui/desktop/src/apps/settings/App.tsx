import { Info, Keyboard, Layers, type LucideIcon, Palette, PersonStanding, Save, ShieldCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useWords } from "../../i18n/words";
import { About } from "./About";
import { words } from "./i18n";
import { Accessibility, Checkpoints, Desktops, Keys, Shell } from "./Sections";
import { Themes } from "./Themes";
import "./settings.css";

const sections = [
  ["look", Palette, <Themes key="look" />],
  ["desktops", Layers, <Desktops key="desktops" />],
  ["accessibility", PersonStanding, <Accessibility key="accessibility" />],
  ["keys", Keyboard, <Keys key="keys" />],
  ["checkpoints", Save, <Checkpoints key="checkpoints" />],
  ["inShell", ShieldCheck, <Shell key="inShell" />],
  ["about", Info, <About key="about" />],
] as const satisfies readonly (readonly [string, LucideIcon, ReactNode])[];

/** What a person sets; each setting is an event, and in force in every browser. */
export default function Settings() {
  const t = useWords(words);
  const [at, setAt] = useState<(typeof sections)[number][0]>("look");
  const shown = sections.find(([id]) => id === at);
  return (
    <div className="app settings">
      <nav aria-label={t("sections")}>
        {sections.map(([id, Icon]) => (
          <button key={id} type="button" aria-current={id === at ? "page" : undefined} onClick={() => setAt(id)}>
            <Icon size={17} aria-hidden /> <span>{t(id)}</span>
          </button>
        ))}
      </nav>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="settings-page scroll" aria-label={t(at)} tabIndex={0} data-autofocus>
        <h3>{t(at)}</h3>
        {shown?.[2]}
      </section>
    </div>
  );
}
