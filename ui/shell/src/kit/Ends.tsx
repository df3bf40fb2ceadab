import { terminalsEnd } from "../domain/sentence";
import "./effects.css";

/** Says how many open terminals a step ends, if any. */
export function Ends({ terminals }: { terminals?: number | undefined }) {
  const ends = terminalsEnd(terminals);
  if (!ends) return null;
  return (
    <ul className="effects">
      <li className="effects-stop">{ends}</li>
    </ul>
  );
}
