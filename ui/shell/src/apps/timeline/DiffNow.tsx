import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useSession } from "../../app/session";
import type { Moment } from "../../domain/timeline";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";
import { Files } from "./Files";

/** What changed in the files since a moment. */
export function DiffNow({ moment, onClose }: { moment: Moment; onClose(): void }) {
  const session = useSession();
  const { data, error } = useQuery({
    queryKey: ["diff", moment.target],
    queryFn: () => session.api.diff(moment.target, 0),
    gcTime: 0,
  });
  return (
    <Dialog label="Compare with now" onClose={onClose}>
      <header className="dialog-head">
        <h2>Since then</h2>
        <Button look="quiet" className="button-icon" aria-label="Close" onClick={onClose}>
          <X size={17} aria-hidden />
        </Button>
      </header>
      <div className="dialog-main scroll">
        {error && <p className="side-none">{error.message}</p>}
        {data ? <Files difference={data} none="The files are as they were then." /> : !error && <p>Comparing…</p>}
      </div>
    </Dialog>
  );
}
