import { useQuery } from "@tanstack/react-query";
import { BadgeCheck, BadgeX } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Story } from "#base/domain/story.ts";
import { named } from "#base/domain/words.ts";
import { Badge } from "#base/kit/Badge.tsx";
import { authenticate } from "../../domain/signature";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";

const words = {
  unsigned: ["runs.unsigned", "runs.unsignedMore"],
  unknown_key: ["runs.unknownKey", "runs.unknownKeyMore"],
  unsupported: ["runs.unsupported", "runs.unsupportedMore"],
} as const;

/** Whether the answer is really the Director's. */
export function Signature({ story }: { story: Story }) {
  const session = useSession();
  const keys = useStore((s) => s.keys);
  const finished = story.finished;
  const toast = finished?.answer ? undefined : story.toasts.at(-1);
  const text = finished?.answer || toast?.text || "";
  const { data } = useQuery({
    queryKey: ["signature", story.run, story.seq, keys],
    enabled: text !== "",
    queryFn: async () => {
      const found = await authenticate(
        {
          type: toast ? "toast.shown" : "run.finished",
          run: story.run,
          text,
          signature: toast ? toast.signature : finished?.signature,
        },
        keys,
      );
      // An answer from before a restart was signed with an earlier key.
      if (found === "unknown_key") await session.findKeys(story.seq);
      return found;
    },
  });
  // A run that failed or was stopped by the system has nobody to sign for it.
  if (!data || (data === "unsigned" && finished?.outcome !== "done")) return null;
  if (data === "verified") {
    return (
      <Badge tone="good" title={t("runs.verifiedMore")}>
        <BadgeCheck size={14} aria-hidden /> {named(names.signatureVerified)}
      </Badge>
    );
  }
  const [short, long] = words[data];
  return (
    <Badge tone="unsure" title={t(long)}>
      <BadgeX size={14} aria-hidden /> {t(short)}
    </Badge>
  );
}
