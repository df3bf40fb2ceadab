import { useQuery } from "@tanstack/react-query";
import { type Content, contentOf } from "../domain/content";
import { files } from "../transport/files";

/** What a file is by its content, how many bytes it has, and what tells it from other content. */
export interface FileContent extends Content {
  size: number;
  digest: string;
}

/** Asks what a file is, again when files change. */
export function useContent(path: string) {
  return useQuery<FileContent>({
    queryKey: ["files", "content", path],
    queryFn: async ({ signal }) => {
      const { type, ...rest } = await files.head(path, signal);
      return { ...contentOf(path, type), ...rest };
    },
  });
}
