import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { extensionOf, nameOf } from "../domain/path";
import { fileAddress, files } from "../transport/files";
import { Loading, Trouble } from "./States";
import "./media.css";

/** What a file is shown as. */
export type MediaKind = "image" | "pdf" | "audio" | "video" | "text";

const endings: Record<Exclude<MediaKind, "text">, RegExp> = {
  image: /^(png|jpe?g|gif|webp|avif|svg|ico|bmp)$/,
  pdf: /^pdf$/,
  audio: /^(mp3|wav|ogg|oga|flac|m4a|opus)$/,
  video: /^(mp4|webm|mov|mkv|ogv|m4v)$/,
};

/** What a file is shown as, by its name. */
export function kindOf(path: string): MediaKind {
  const ending = extensionOf(path);
  const found = Object.entries(endings).find(([, fits]) => fits.test(ending));
  return (found?.[0] as MediaKind | undefined) ?? "text";
}

/** A picture, a sound, a film or a PDF. */
export function Media({ path, kind }: { path: string; kind: Exclude<MediaKind, "text"> | "text" }) {
  const name = nameOf(path);
  switch (kind) {
    case "image":
      return <img className="media media-image" src={fileAddress(path)} alt={name} />;
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for a person's own files
      return <audio className="media" src={fileAddress(path)} controls aria-label={name} />;
    case "video":
      // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for a person's own files
      return <video className="media media-video" src={fileAddress(path)} controls aria-label={name} />;
    case "pdf":
      return <PDF path={path} name={name} />;
    default:
      return null;
  }
}

// As a blob of this page: what the server sends may be framed by the shell only.
function PDF({ path, name }: { path: string; name: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["files", "blob", path],
    queryFn: async ({ signal }) => (await files.read(path, signal)).blob(),
  });
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!data) return;
    const made = URL.createObjectURL(new Blob([data], { type: "application/pdf" }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  if (error) return <Trouble error={error} onAgain={() => void refetch()} />;
  return address ? <iframe className="media media-pdf" src={address} title={name} /> : <Loading />;
}
