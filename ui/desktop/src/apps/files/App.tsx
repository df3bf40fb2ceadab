import { useEffect, useMemo, useRef, useState } from "react";
import { unawaited } from "#base/kit/unawaited.ts";
import { nameOf, type SortBy } from "../../domain/path";
import { kept, nothing } from "../../domain/selection";
import { useWords } from "../../i18n/words";
import { Loading, Trouble } from "../../kit/States";
import { useWindow } from "../../session/useWindow";
import { Actions, type Naming, type Shown } from "./Actions";
import { Dropping } from "./Dropping";
import { words } from "./i18n";
import { Listing } from "./Listing";
import { Preview } from "./Preview";
import { type Item, placeOf, useContents } from "./place";
import { Status } from "./Status";
import { Toolbar } from "./Toolbar";
import { useOrdered } from "./useOrdered";
import "./files.css";

const NONE: readonly Item[] = [];

/** The names of entries, gathered when they are first asked for. */
function namesOf(items: readonly Item[]): () => ReadonlySet<string> {
  let names: ReadonlySet<string> | undefined;
  return () => {
    names ??= new Set(items.map((i) => nameOf(i.file.path)));
    return names;
  };
}

/** The files of the workspace: one folder, a search, or the trash. */
export default function Files() {
  const { subject, show, title } = useWindow();
  const t = useWords(words);
  const place = useMemo(() => placeOf(subject), [subject]);
  const { data, error, refetch } = useContents(place);
  const [by, setBy] = useState<SortBy>("name");
  const [down, setDown] = useState(false);
  const [look, setLook] = useState<"list" | "grid">("list");
  const [preview, setPreview] = useState(false);
  const [selection, setSelection] = useState(nothing);
  const [naming, setNaming] = useState<Naming>();
  const search = useRef<HTMLInputElement>(null);

  const ordered = useOrdered(data?.items, by, down);
  const items = ordered ?? NONE;
  const ids = useMemo(() => items.map((i) => i.id), [items]);
  const held = useMemo(() => kept(ids, selection), [ids, selection]);
  const chosen = useMemo(() => items.filter((i) => held.chosen.has(i.id)), [items, held]);
  const taken = useMemo(() => namesOf(items), [items]);

  const called =
    place.is === "trash" ? t("trash") : place.is === "search" ? place.name : nameOf(place.path) || t("home");
  useEffect(() => {
    if (title !== called) show(subject, called);
  }, [called, title, show, subject]);
  const go = (to: string) => {
    setSelection(nothing);
    show(to);
  };
  const shown: Shown = {
    place,
    items,
    chosen,
    taken,
    go,
    focusSearch: () => search.current?.focus(),
    togglePreview: () => setPreview(!preview),
    // Once the menu that asks is gone.
    ask: (next) => {
      if (next) setTimeout(() => setNaming(next));
      else setNaming(undefined);
    },
  };
  return (
    <div className="app files">
      <Toolbar
        place={place}
        search={search}
        look={look}
        onLook={setLook}
        preview={preview}
        onPreview={setPreview}
        shown={shown}
      />
      <Actions shown={shown} naming={naming}>
        <Dropping place={place} taken={taken}>
          <div className="files-body">
            {error ? (
              <Trouble error={error} onAgain={() => unawaited(refetch())} />
            ) : ordered ? (
              <Listing
                place={place}
                items={items}
                ids={ids}
                look={look}
                sort={{ by, down }}
                onSort={(next) => {
                  setDown(next === by ? !down : false);
                  setBy(next);
                }}
                selection={held}
                onSelect={setSelection}
                shown={shown}
              />
            ) : (
              <Loading />
            )}
            {preview && <Preview item={chosen[0]} />}
          </div>
        </Dropping>
      </Actions>
      {!error && (
        <Status
          items={ordered}
          chosen={chosen}
          cut={data?.cut ?? false}
          partial={data?.partial ?? false}
          search={place.is === "search"}
        />
      )}
    </div>
  );
}
