import { useQuery } from "@tanstack/react-query";
import { send } from "#base/transport/http.ts";
import { fileAddress } from "../transport/files";
import { Loading } from "./States";

/** Bytes read of a file for a first look. */
const HEAD = 4096;

/** The beginning of a text file. */
export function TextHead({ path, version }: { path: string; version: string }) {
  const { data, isPending } = useQuery({
    queryKey: ["files", "head", path, version],
    queryFn: async ({ signal }) => {
      const response = await send(fileAddress(path), { signal, headers: { Range: `bytes=0-${HEAD - 1}` } });
      // Cut in the middle of a sign, which is left out.
      return new TextDecoder().decode(await response.arrayBuffer(), { stream: true });
    },
    retry: false,
  });
  if (isPending) return <Loading />;
  return <pre className="text-head">{data}</pre>;
}
