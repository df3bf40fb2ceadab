import { Component, type ReactNode } from "react";
import { Button } from "#base/kit/Button.tsx";
import { dropFrame } from "../frame/early";

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
        <h1>This page stumbled</h1>
        <p role="alert">{error.message}. The computer itself goes on; nothing is lost.</p>
        <Button look="primary" onClick={() => location.reload()}>
          Reload
        </Button>
      </main>
    );
  }
}
