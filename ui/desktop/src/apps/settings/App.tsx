import { shipped } from "../../domain/theme";

/** What a person sets. */
export default function Settings() {
  return <div className="scroll">{shipped.map((t) => t.name).join()}</div>;
}
