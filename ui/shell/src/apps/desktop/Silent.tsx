import { useSession } from "../../app/session";
import { Button } from "../../kit/Button";
import { useStore } from "../../state/store";

/** What to do about a desktop that does not answer. */
export function Silent() {
  const session = useSession();
  const silent = useStore((s) => s.frame === "silent");
  if (!silent) return null;
  return (
    <div className="desktop-silent" role="alert">
      <p>The desktop does not answer. Your files, runs and documents are not affected.</p>
      <Button look="primary" onClick={() => session.go({ page: "recover" })}>
        Recover
      </Button>
      <Button onClick={() => session.go({ page: "home" })}>Plain view</Button>
    </div>
  );
}
