import { GitCompare, RotateCcw, Save } from "lucide-react";
import { useEffect, useState } from "react";
import { bytes } from "#base/domain/bytes.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { isChord } from "../../domain/chord";
import { isDirty } from "../../domain/draft";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { late } from "../../kit/late";
import { Empty, Loading, TooLarge, Trouble } from "../../kit/States";
import { LARGEST, NotText, TooLong } from "../../session/useFile";
import { useUnsaved } from "../../session/useUnsaved";
import { useWindow } from "../../session/useWindow";
import { useStore } from "../../state/store";
import { fileAddress } from "../../transport/files";
import { words } from "./i18n";
import { useLanguage } from "./language";
import { Start } from "./Start";
import { useDraft } from "./useDraft";
import "./code.css";

const Editor = late(
  () => import("./Editor"),
  () => <Loading />,
);
const Merge = late(
  () => import("./Merge"),
  () => <Loading />,
);

/** Source files: written here, saved over what was seen and nothing else. */
export default function Code() {
  const { subject } = useWindow();
  return subject ? <File key={subject} path={subject} /> : <Start />;
}

function File({ path }: { path: string }) {
  const { title, show } = useWindow();
  const t = useWords(words);
  const { draft, gone, error, retry, type, save, revert, decide } = useDraft(path);
  const [comparing, setComparing] = useState(false);
  const [place, setPlace] = useState({ line: 1, column: 1 });
  const language = useLanguage(path);
  // The editor is fetched while the file is read; a failure is shown in its place.
  useEffect(() => {
    Editor.load().catch(() => undefined);
  }, []);
  const dirty = draft !== undefined && isDirty(draft);
  useUnsaved(dirty, { name: nameOf(path), save, discard: revert });
  const called = `${dirty ? "● " : ""}${nameOf(path)}`;
  useEffect(() => {
    if (title !== called) show(path, called);
  }, [title, called, show, path]);
  if (error instanceof NotText) return <Empty title={t("notText")}>{t("notTextMore", { path })}</Empty>;
  if (error instanceof TooLong) return <Large path={path} bytes={error.bytes} />;
  if (error && !draft) return <Trouble error={error} onAgain={retry} />;
  if (!draft) return <Loading />;
  const other = draft.theirs ?? (comparing ? draft.base : undefined);
  const press = (e: React.KeyboardEvent) => {
    if (isChord(e.nativeEvent, "Ctrl+S")) unawaited(save());
    else if (isChord(e.nativeEvent, "Ctrl+Shift+D")) setComparing(!comparing);
    else return;
    e.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the editor inside
    <div className="app code" onKeyDown={press}>
      <div className="app-tools">
        <span className="code-path">{path}</span>
        <span className="spread" />
        <span className="code-state" role="status">
          {t(draft.saving ? "saving" : dirty ? "unsaved" : "saved")}
        </span>
        <button
          type="button"
          className="tool"
          aria-label={t("revert")}
          title={t("revert")}
          disabled={!dirty}
          onClick={revert}
        >
          <RotateCcw size={16} aria-hidden />
        </button>
        <button type="button" className="tool" aria-pressed={comparing} onClick={() => setComparing(!comparing)}>
          <GitCompare size={16} aria-hidden /> {t("compare")}
        </button>
        <Button look="primary" disabled={!dirty || draft.saving} onClick={() => unawaited(save())}>
          <Save size={15} aria-hidden /> {t("save")}
        </Button>
      </div>
      {gone && (
        <div className="code-conflict" data-state="gone" role="alert">
          <p>{t("gone")}</p>
          <Button onClick={() => unawaited(save())}>{t("writeAgain")}</Button>
        </div>
      )}
      {draft.theirs && (
        <div className="code-conflict" role="alert">
          <p>{t(draft.theirs.unsaved ? "typedBeside" : "changedBelow")}</p>
          <Button onClick={() => decide("theirs")}>{t("takeTheirs")}</Button>
          <Button look="primary" onClick={() => decide("mine")}>
            {t("keepMine")}
          </Button>
        </div>
      )}
      {language === undefined ? (
        <Loading />
      ) : other ? (
        <Merge
          path={path}
          language={language}
          other={other.text}
          mine={draft.text}
          otherName={t(draft.theirs?.unsaved ? "beside" : draft.theirs ? "theirs" : "onDisk")}
          mineName={t("mine")}
          onMine={type}
        />
      ) : (
        <Editor
          path={path}
          language={language}
          text={draft.text}
          label={t("text", { name: nameOf(path) })}
          onText={type}
          onPlace={setPlace}
        />
      )}
      <footer className="app-status">
        <span>{t("position", place)}</span>
      </footer>
    </div>
  );
}

/** A file that the editor has no room for. */
function Large({ path, bytes: has }: { path: string; bytes: number }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  return (
    <TooLarge title={t("tooLarge", { name: nameOf(path) })}>
      <p>{t("tooLargeMore", { has: bytes(has, language), most: bytes(LARGEST, language) })}</p>
      <a className="button button-plain" href={fileAddress(path, true)} download={nameOf(path)}>
        {t("download")}
      </a>
    </TooLarge>
  );
}
