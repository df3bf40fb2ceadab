import { Download, FileQuestion, Image as Icon, PencilLine, TriangleAlert } from "lucide-react";
import { useEffect } from "react";
import { bytes } from "#base/domain/bytes.ts";
import { Markdown } from "#base/kit/Markdown.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { isTable } from "../../domain/content";
import { extensionOf, nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { Media } from "../../kit/Media";
import { Empty, Loading, TooLarge, Trouble } from "../../kit/States";
import { type FileContent, useContent } from "../../kit/useContent";
import { LARGEST, NotText, TooLong, useText } from "../../session/useFile";
import { useWindow } from "../../session/useWindow";
import { useStore } from "../../state/store";
import { fileAddress } from "../../transport/files";
import { words } from "./i18n";
import { JSONView } from "./JSONView";
import { Picture } from "./Picture";
import { Table } from "./Table";
import "./viewer.css";

/** Shows a file as what it is; it changes nothing. */
export default function Viewer() {
  const { subject, title, show } = useWindow();
  const t = useWords(words);
  const name = nameOf(subject);
  useEffect(() => {
    if (title !== name) show(subject, name);
  }, [title, name, show, subject]);
  if (!subject) {
    return (
      <Empty icon={<Icon size={38} strokeWidth={1.4} aria-hidden />} title={t("nothing")}>
        {t("nothingMore")}
      </Empty>
    );
  }
  return <File path={subject} />;
}

function File({ path }: { path: string }) {
  const { open } = useWindow();
  const t = useWords(words);
  const { data: content, error, refetch } = useContent(path);
  return (
    <div className="app viewer">
      <div className="app-tools">
        <span className="viewer-path">{path}</span>
        <span className="spread" />
        {content?.kind === "text" && (
          <button type="button" className="tool" onClick={() => open(path, "code")}>
            <PencilLine size={16} aria-hidden /> {t("edit")}
          </button>
        )}
        <a
          className="tool"
          href={fileAddress(path, true)}
          download={nameOf(path)}
          aria-label={t("download")}
          title={t("download")}
        >
          <Download size={16} aria-hidden />
        </a>
      </div>
      {content?.lies && (
        <p className="viewer-lies" role="note">
          <TriangleAlert size={16} aria-hidden />
          {t("lies", { ending: extensionOf(path).toUpperCase(), what: t(content.kind) })}
        </p>
      )}
      {error ? (
        <Trouble error={error} onAgain={() => unawaited(refetch())} />
      ) : content ? (
        <Shown path={path} content={content} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

/** What the file is; the name has a say only where the content fits it. */
function Shown({ path, content: { kind, lies, digest } }: { path: string; content: FileContent }) {
  switch (kind) {
    case "image":
      return <Picture key={`${path} ${digest}`} path={path} />;
    case "text":
      return isTable(path) ? (
        <Table key={`${path} ${digest}`} path={path} />
      ) : (
        <Text path={path} ending={lies ? "" : extensionOf(path)} />
      );
    case "none":
      return <Unknown />;
    default:
      return (
        <div className={`viewer-stage viewer-${kind}`}>
          <Media path={path} kind={kind} digest={digest} />
        </div>
      );
  }
}

function Unknown() {
  const t = useWords(words);
  return (
    <Empty icon={<FileQuestion size={38} strokeWidth={1.4} aria-hidden />} title={t("unknown")}>
      {t("unknownMore")}
    </Empty>
  );
}

function Text({ path, ending }: { path: string; ending: string }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const { data, error, refetch } = useText(path);
  if (error instanceof NotText) return <Empty title={t("notText")}>{t("unknownMore")}</Empty>;
  if (error instanceof TooLong)
    return (
      <TooLarge title={t("tooLarge", { name: nameOf(path) })}>
        <p>
          {t("tooLargeMore", { has: bytes(error.bytes, language), most: bytes(LARGEST, language) })} {t("unknownMore")}
        </p>
      </TooLarge>
    );
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!data) return <Loading />;
  switch (ending) {
    case "json":
      return <JSONView text={data.text} />;
    case "md":
    case "markdown":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <article className="viewer-page scroll" tabIndex={0} data-autofocus>
          <Markdown text={data.text} under={2} />
        </article>
      );
    default:
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <pre className="viewer-plain scroll" tabIndex={0} data-autofocus>
          {data.text}
        </pre>
      );
  }
}
