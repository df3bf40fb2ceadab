import { useQuery } from "@tanstack/react-query";
import { unawaited } from "#base/kit/unawaited.ts";
import { files } from "../transport/files";
import { Loading, Trouble } from "./States";

/** Bytes read of a file for a first look. */
const HEAD = 4096;

/** The beginning of a text file. */
export function TextHead({ path, version }: { path: string; version: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["files", "head", path, version],
    queryFn: async ({ signal }) => {
      // Cut in the middle of a sign, which is left out.
      return new TextDecoder().decode(await files.beginning(path, HEAD, signal), { stream: true });
    },
    retry: false,
  });
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (data === undefined) return <Loading />;
  return <pre className="text-head">{data}</pre>;
}
