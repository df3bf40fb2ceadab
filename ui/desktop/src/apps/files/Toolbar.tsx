import { ArrowUp, LayoutGrid, List, MoreHorizontal, PanelRight, Search, Trash2 } from "lucide-react";
import { type FormEvent, type RefObject, useEffect, useState } from "react";
import { folderOf, nameOf, trailOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { toContent } from "../../kit/keyboard";
import { MenuButton } from "../../kit/Menu";
import { type Shown, useEntries } from "./Actions";
import { words } from "./i18n";
import { type Place, subjectOf } from "./place";

interface Props {
  place: Place;
  search: RefObject<HTMLInputElement | null>;
  look: "list" | "grid";
  onLook(look: "list" | "grid"): void;
  preview: boolean;
  onPreview(preview: boolean): void;
  shown: Shown;
}

/** Where this is, how to get elsewhere, and what can be done. */
export function Toolbar({ place, search, look, onLook, preview, onPreview, shown }: Props) {
  const t = useWords(words);
  const entries = useEntries(shown);
  const path = place.is === "folder" ? place.path : undefined;
  return (
    <div className="app-tools">
      <button
        type="button"
        className="tool"
        aria-label={t("up")}
        title={t("up")}
        disabled={path === ""}
        onClick={() => shown.go(path === undefined ? "" : subjectOf(folderOf(path)))}
      >
        <ArrowUp size={17} aria-hidden />
      </button>
      <Trail place={place} onGo={shown.go} />
      <SearchBox input={search} place={place} onGo={shown.go} />
      <fieldset className="files-looks">
        <button
          type="button"
          className="tool"
          aria-label={t("list")}
          title={t("list")}
          aria-pressed={look === "list"}
          onClick={() => onLook("list")}
        >
          <List size={17} aria-hidden />
        </button>
        <button
          type="button"
          className="tool"
          aria-label={t("grid")}
          title={t("grid")}
          aria-pressed={look === "grid"}
          onClick={() => onLook("grid")}
        >
          <LayoutGrid size={16} aria-hidden />
        </button>
        <button
          type="button"
          className="tool"
          aria-label={t("preview")}
          title={t("preview")}
          aria-pressed={preview}
          onClick={() => onPreview(!preview)}
        >
          <PanelRight size={17} aria-hidden />
        </button>
      </fieldset>
      <button
        type="button"
        className="tool"
        aria-label={t("trash")}
        title={t("trash")}
        aria-pressed={place.is === "trash"}
        onClick={() => shown.go(place.is === "trash" ? "" : "trash:")}
      >
        <Trash2 size={16} aria-hidden />
      </button>
      <MenuButton entries={entries}>
        <button type="button" className="tool" aria-label={t("actions")} title={t("actions")}>
          <MoreHorizontal size={18} aria-hidden />
        </button>
      </MenuButton>
    </div>
  );
}

function Trail({ place, onGo }: { place: Place; onGo(subject: string): void }) {
  const t = useWords(words);
  if (place.is !== "folder") {
    return <span className="files-trail files-trail-end">{place.is === "trash" ? t("trash") : t("search")}</span>;
  }
  const trail = trailOf(place.path);
  return (
    <nav className="files-trail" aria-label={t("path")}>
      <ol>
        {trail.map((path, i) => (
          <li key={path}>
            <button
              type="button"
              aria-current={i === trail.length - 1 ? "page" : undefined}
              onClick={() => onGo(subjectOf(path))}
            >
              {nameOf(path) || t("home")}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function SearchBox(props: { input: RefObject<HTMLInputElement | null>; place: Place; onGo(subject: string): void }) {
  const { input, place, onGo } = props;
  const t = useWords(words);
  const [name, setName] = useState("");
  useEffect(() => setName(place.is === "search" ? place.name : ""), [place]);
  const send = (e: FormEvent) => {
    e.preventDefault();
    onGo(name.trim() ? `search:${name.trim()}` : "");
    toContent();
  };
  return (
    <search className="files-search">
      <form onSubmit={send}>
        <Search size={15} aria-hidden />
        <input
          ref={input}
          className="field"
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          value={name}
          onChange={(e) => setName(e.target.value)}
        />
      </form>
    </search>
  );
}
