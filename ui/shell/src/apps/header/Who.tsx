import { UserRound } from "lucide-react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { Popover } from "../../kit/Popover";
import { logout } from "../../transport/api";
import { shelf } from "../../transport/shelf";

/** Who is logged in, and the way out. */
export function Who() {
  const logOut = () =>
    logout().then(() => {
      shelf.forget();
      location.assign("/login");
    }, notifyProblem);
  return (
    <Popover
      label="Who is logged in"
      trigger={
        <>
          <UserRound size={16} aria-hidden />
          <span className="header-word">Owner</span>
          <span className="visually-hidden">, show the session</span>
        </>
      }
    >
      <h2>You are the owner of this computer</h2>
      <p>This browser was let in by the one-time link that choir up printed.</p>
      <Button className="who-out" onClick={() => unawaited(logOut())}>
        Log out, here and in the desktops
      </Button>
    </Popover>
  );
}
