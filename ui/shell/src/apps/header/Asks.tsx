import { BadgeCheck, Globe } from "lucide-react";
import type { ReactNode } from "react";
import type { Section } from "../../domain/route";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";

/** Says in the bar, where no desktop can reach, what waits for the owner, and leads to the answers. */
export function Asks() {
  const asks = useStore((s) => s.computer?.asks ?? 0);
  const approvals = useStore((s) => s.computer?.approvals ?? 0);
  return (
    <>
      {approvals > 0 && (
        <Ask
          section="approvals"
          icon={<BadgeCheck size={16} aria-hidden />}
          said={t("approvals.waits", { n: approvals })}
        />
      )}
      {asks > 0 && <Ask section="hosts" icon={<Globe size={16} aria-hidden />} said={t("hosts.asked", { n: asks })} />}
    </>
  );
}

/** A link to the section with the answers. */
function Ask({ section, icon, said }: { section: Section; icon: ReactNode; said: string }) {
  const session = useSession();
  return (
    <a
      className="header-warn header-asks"
      href={session.addressOf({ page: "models", section })}
      onClick={(e) => {
        e.preventDefault();
        session.go({ page: "models", section });
      }}
    >
      {icon}
      <span className="header-word">{said}</span>
    </a>
  );
}
