import { FileX } from "lucide-react";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { words } from "../i18n";
import { Empty, Loading } from "../States";
import { Page } from "./Page";
import { Pages } from "./Pages";
import { useDocument } from "./useDocument";
import "./pdf.css";

/** The width of a page that is only glanced at, in CSS pixels. */
const GLANCE = 230;

/** A PDF, drawn by the page itself: the browser's own viewer does not start in a sandboxed frame. */
export default function PDF({ path, small }: { path: string; small: boolean }) {
  const t = useWords(words);
  const opened = useDocument(path);
  if (opened.is === "opening") return <Loading />;
  if (opened.is === "failed") {
    return (
      <Empty icon={<FileX size={38} strokeWidth={1.4} aria-hidden />} title={t(opened.why)}>
        {t("downloadIt")}
      </Empty>
    );
  }
  const { doc, first } = opened;
  if (!small) return <Pages doc={doc} first={first} name={nameOf(path)} />;
  return <Page doc={doc} n={1} size={first} scale={GLANCE / first.width} />;
}
