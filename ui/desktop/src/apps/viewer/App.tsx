import { Download, Image as Icon, PencilLine } from "lucide-react";
import { useEffect } from "react";
import { Markdown } from "#base/kit/Markdown.tsx";
import { useText } from "../../app/useFile";
import { useWindow } from "../../app/useWindow";
import { extensionOf, nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { kindOf, Media } from "../../kit/Media";
import { Empty, Loading, Trouble } from "../../kit/States";
import { fileAddress } from "../../transport/files";
import { words } from "./i18n";
import { JSONView } from "./JSONView";
import { Picture } from "./Picture";
import { Table } from "./Table";
import "./viewer.css";

/** Shows a file as what it is; it changes nothing. */
export default function Viewer() {
  const { subject, title, show, open } = useWindow();
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
  const kind = kindOf(subject);
  return (
    <div className="app viewer">
      <div className="app-tools">
        <span className="viewer-path">{subject}</span>
        <span className="spread" />
        {kind === "text" && (
          <button type="button" className="tool" onClick={() => open(subject, "code")}>
            <PencilLine size={16} aria-hidden /> {t("edit")}
          </button>
        )}
        <a
          className="tool"
          href={fileAddress(subject, true)}
          download={name}
          aria-label={t("download")}
          title={t("download")}
        >
          <Download size={16} aria-hidden />
        </a>
      </div>
      {kind === "image" ? (
        <Picture path={subject} />
      ) : kind === "text" ? (
        <Text path={subject} />
      ) : (
        <div className={`viewer-stage viewer-${kind}`}>
          <Media path={subject} kind={kind} />
        </div>
      )}
    </div>
  );
}

function Text({ path }: { path: string }) {
  const { data, error, refetch } = useText(path);
  if (error) return <Trouble error={error} onAgain={() => void refetch()} />;
  if (!data) return <Loading />;
  switch (extensionOf(path)) {
    case "csv":
    case "tsv":
      return <Table text={data.text} name={nameOf(path)} />;
    case "json":
      return <JSONView text={data.text} />;
    case "md":
    case "markdown":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <article className="viewer-page scroll" tabIndex={0} data-autofocus>
          <Markdown text={data.text} />
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
