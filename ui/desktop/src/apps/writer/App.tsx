import { useQuery } from "@tanstack/react-query";
import { FilePlus2, FileText } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef } from "react";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { useWords } from "../../i18n/words";
import { Empty, Loading, Trouble } from "../../kit/States";
import { useTypeAhead } from "../../kit/typeahead";
import { useAge } from "../../kit/useAge";
import { beginDocument } from "../../session/newDocument";
import { useWindow } from "../../session/useWindow";
import { type Doc, documents } from "../../transport/documents";
import { words } from "./i18n";
import { Page } from "./Page";
import "./writer.css";

/** Documents: rich text over Markdown, with every version kept. */
export default function Writer() {
  const { subject } = useWindow();
  const id = subject.startsWith("document:") ? subject.slice("document:".length) : "";
  return id ? <Page key={id} id={id} /> : <Start />;
}

/** All documents, and the way to begin one. */
function Start() {
  const { show } = useWindow();
  const t = useWords(words);
  const { data, error, refetch } = useQuery({ queryKey: ["documents"], queryFn: documents.list });
  const docs = useMemo(() => [...(data ?? [])].sort((a, b) => b.at.localeCompare(a.at)), [data]);
  const list = useRef<HTMLUListElement>(null);
  const rows = () => [...(list.current?.querySelectorAll("button") ?? [])];
  const typeAhead = useTypeAhead(
    () => docs.map((d) => d.title),
    (place) => rows()[place]?.focus(),
  );
  const press = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!by) {
      typeAhead.press(e);
      return;
    }
    const all = rows();
    all[all.indexOf(document.activeElement as HTMLButtonElement) + by]?.focus();
    e.preventDefault();
  };
  const openNewDocument = () => beginDocument().then((doc) => doc && show(`document:${doc.id}`, doc.title));
  if (error && !data) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!data) return <Loading />;
  const button = (
    <Button look="primary" data-autofocus={data.length === 0 || undefined} onClick={() => unawaited(openNewDocument())}>
      <FilePlus2 size={15} aria-hidden /> {t("newDocument")}
    </Button>
  );
  if (data.length === 0) {
    return (
      <Empty icon={<FileText size={38} strokeWidth={1.4} aria-hidden />} title={t("none")}>
        <p>{t("noneMore")}</p>
        {button}
      </Empty>
    );
  }
  return (
    <div className="app writer">
      <div className="app-tools">
        <h2 className="writer-heading">{t("documents")}</h2>
        <span className="spread" />
        {button}
      </div>
      <ul ref={list} className="writer-list scroll" onKeyDown={press} onKeyUp={typeAhead.release}>
        {docs.map((doc, i) => (
          <li key={doc.id}>
            <button
              type="button"
              data-autofocus={i === 0 || undefined}
              onClick={() => show(`document:${doc.id}`, doc.title)}
            >
              <FileText size={18} strokeWidth={1.5} aria-hidden />
              <span className="writer-name">{doc.title}</span>
              <Written doc={doc} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Who wrote the newest version of a document, and how long ago. */
function Written({ doc }: { doc: Doc }) {
  const t = useWords(words);
  const when = useAge(doc.at);
  return <span className="writer-when">{t("versionBy", { who: t(doc.by ?? "system"), when })}</span>;
}
