import { Component, type ReactNode } from "react";
import { deskWords } from "../i18n/desk";
import { say } from "../i18n/words";
import { Failed } from "../kit/States";
import { useStore } from "../state/store";

/** Shows what went wrong in a part of the page in place of that part. */
export class Boundary extends Component<{ children: ReactNode; app?: boolean }, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const { language } = useStore.getState();
    return (
      <Failed
        title={say(deskWords, language, this.props.app ? "stumbled" : "stumbledPage")}
        why={say(deskWords, language, "stumbledWhy", { why: error.message })}
        again={say(deskWords, language, this.props.app ? "tryAgain" : "reload")}
        onAgain={() => (this.props.app ? this.setState({ error: undefined }) : location.reload())}
      />
    );
  }
}
