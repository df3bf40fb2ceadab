import { useQuery } from "@tanstack/react-query";
import { BadgeCheck, BadgeX } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Story } from "#base/domain/story.ts";
import { Badge } from "#base/kit/Badge.tsx";
import { authenticate } from "../../domain/signature";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";

const words = {
  unsigned: ["Answer not signed", "This answer carries no signature of the Director."],
  unknown_key: ["Signature not confirmed", "No key known here fits: the answer is not shown to be the Director’s."],
  unsupported: ["Signature not checked", "This browser cannot check Ed25519 signatures."],
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
      <Badge tone="good" title="This answer is the Director’s: this browser checked its Ed25519 signature.">
        <BadgeCheck size={14} aria-hidden /> {names.signatureVerified.en}
      </Badge>
    );
  }
  const [short, long] = words[data];
  return (
    <Badge tone="unsure" title={long}>
      <BadgeX size={14} aria-hidden /> {short}
    </Badge>
  );
}
