import { Globe } from "lucide-react";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";

/** Says in the bar, where no desktop can reach, that tasks ask for hosts, and leads to the answers. */
export function Asks() {
  const session = useSession();
  const n = useStore((s) => s.computer?.asks ?? 0);
  return (
    <a
      className="header-warn header-asks"
      href={session.addressOf({ page: "models", section: "hosts" })}
      onClick={(e) => {
        e.preventDefault();
        session.go({ page: "models", section: "hosts" });
      }}
    >
      <Globe size={16} aria-hidden />
      <span className="header-word">{t("hosts.asked", { n })}</span>
    </a>
  );
}
