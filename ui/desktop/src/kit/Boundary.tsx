import { Component, type ReactNode } from "react";
import { isUnfetched, placeOf } from "../domain/broke";
import { deskWords } from "../i18n/desk";
import { say } from "../i18n/words";
import { useStore } from "../state/store";
import { desk } from "../transport/desk";
import { Failed } from "./States";

/** Shows what went wrong in a part of the page in place of that part. */
export class Boundary extends Component<{ children: ReactNode; app?: boolean }, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidCatch(error: Error) {
    // Only a source that was changed is served for development.
    if (import.meta.env.DEV) tell(error);
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const { language } = useStore.getState();
    // A browser does not fetch the same code again, and another version of choir has it elsewhere.
    if (isUnfetched(error))
      return (
        <Failed
          title={say(deskWords, language, "unfetched")}
          why={say(deskWords, language, "unfetchedWhy")}
          again={say(deskWords, language, "reloadPage")}
          onAgain={() => location.reload()}
        />
      );
    return (
      <Failed
        title={say(deskWords, language, this.props.app ? "stumbled" : "stumbledPage")}
        why={say(deskWords, language, "stumbledWhy", { why: error.message })}
        again={say(deskWords, language, this.props.app ? "reloadApp" : "reload")}
        onAgain={() => (this.props.app ? this.setState({ error: undefined }) : location.reload())}
      />
    );
  }
}

/** Tells the server; when that fails too, the page says it all the same. */
function tell(error: Error): void {
  const message = String(error.message || error).slice(0, 4_000);
  desk.broke(message, placeOf(error.stack ?? "", location.origin)).catch(() => undefined);
}
