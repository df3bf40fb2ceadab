import { useState } from "react";
import type { Kind } from "../domain/content";
import { nameOf } from "../domain/path";
import { useWords } from "../i18n/words";
import { fileAddress } from "../transport/files";
import { words } from "./i18n";
import { late } from "./late";
import { Empty, Loading } from "./States";
import "./media.css";

interface Props {
  path: string;
  kind: Exclude<Kind, "text" | "none">;
  /** What tells this content from what was there before. */
  digest: string;
  /** Only a glance at it, in little room. */
  small?: boolean;
}

const PDF = late<{ path: string; digest: string; small: boolean }>(
  () => import("./pdf/PDF"),
  () => <Loading />,
);

/** A picture, a sound, a film or a PDF. */
export function Media({ path, kind, digest, small = false }: Props) {
  const name = nameOf(path);
  switch (kind) {
    case "image":
      return <img className="media media-image" src={fileAddress(path)} alt={name} />;
    case "pdf":
      return <PDF key={`${path} ${digest}`} path={path} digest={digest} small={small} />;
    default:
      return <Player key={`${path} ${digest}`} path={path} kind={kind} name={name} />;
  }
}

/** A sound or a film; says so when this browser cannot play it. */
function Player({ path, kind, name }: { path: string; kind: "audio" | "video"; name: string }) {
  const t = useWords(words);
  const [failed, setFailed] = useState(false);
  if (failed) return <Empty title={t("notPlayed")}>{t("notPlayedMore")}</Empty>;
  const Tag = kind;
  return (
    <Tag
      className={`media media-${kind}`}
      src={fileAddress(path)}
      controls
      preload="metadata"
      aria-label={name}
      onError={() => setFailed(true)}
    />
  );
}
