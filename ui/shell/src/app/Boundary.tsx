import { Component, type ReactNode } from "react";
import { Button } from "#base/kit/Button.tsx";
import { dropFrame } from "../frame/early";
import { t } from "../words/words";

/** Shows what went wrong in the page itself in place of a blank one. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidCatch() {
    dropFrame();
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <main className="login">
        <h1>{t("page.stumbled")}</h1>
        <p role="alert">{t("page.stumbledMore", { why: error.message })}</p>
        <Button look="primary" onClick={() => location.reload()}>
          {t("page.reload")}
        </Button>
      </main>
    );
  }
}
