import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Moment } from "#base/domain/views.ts";
import { DesktopLink } from "../../frame/link";
import { READY_MS } from "../../frame/ready";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import "./desktopthen.css";

/** The desktop as it was: its picture, and what lay on it in words. */
export function DesktopThen({ moment }: { moment: Moment }) {
  return (
    <>
      <PictureThen moment={moment} />
      <ul className="then-list" aria-label={t("time.onDesktop")}>
        {moment.windows.map((w) => (
          <li key={w.id} className="then-item">
            <span>{w.title || w.app}</span>
            <small>
              {w.app},{" "}
              {w.state === "normal"
                ? t("time.at", {
                    width: String(w.bounds.width),
                    height: String(w.bounds.height),
                    x: String(w.bounds.x),
                    y: String(w.bounds.y),
                  })
                : t(states[w.state])}
            </small>
          </li>
        ))}
        {moment.settings.map((s) => (
          <li key={s.key} className="then-item">
            <span>{s.key.replace("setting/", "")}</span>
            <small>{s.theme?.name ?? s.value}</small>
          </li>
        ))}
      </ul>
    </>
  );
}

const states = { maximised: "time.maximised", minimised: "time.minimised", snapped: "time.snapped" } as const;

type Stage = "opening" | "ready" | "failed";

// Pages that choir was built with, on an origin that can only read; scripts and
// that origin's cookie are all they need.
const SANDBOX = "allow-scripts allow-same-origin";

/**
 * A frame as large as the desktop would be here, drawn as small as there is room.
 * Nothing reaches it: no pointer and no key.
 */
function PictureThen({ moment }: { moment: Moment }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [stage, link] = usePast(frame);
  const size = useRoom(box);
  const { seq, at } = moment;
  useEffect(() => {
    if (stage === "ready") link.current?.say({ kind: "moment", seq, at });
  }, [stage, link, seq, at]);
  const failed = stage === "failed";
  return (
    <>
      {failed && (
        <p className="side-none" role="alert">
          {t("time.notDrawn")}
        </p>
      )}
      {/* It stays: a slow one may still come. */}
      <div
        ref={box}
        className="past"
        style={{ height: failed ? 0 : size.height * size.scale }}
        aria-busy={stage === "opening"}
      >
        <iframe
          ref={frame}
          className="past-frame"
          title={t("time.desktopThen")}
          sandbox={SANDBOX}
          tabIndex={-1}
          inert
          style={{ width: size.width, height: size.height, transform: `scale(${size.scale})` }}
        />
      </div>
    </>
  );
}

/** Opens the desktop of the past with a ticket, and the line to it. */
function usePast(frame: React.RefObject<HTMLIFrameElement | null>) {
  const session = useSession();
  const [stage, setStage] = useState<Stage>("opening");
  const link = useRef<DesktopLink>(undefined);
  const open = useCallback((element: HTMLIFrameElement, url: string, ended: AbortSignal) => {
    link.current = new DesktopLink(element, new URL(url).origin, {
      ready: () => setStage("ready"),
      // It has nothing else to say.
      typed: () => {},
      hold: () => {},
      left: () => {},
      stop: () => {},
      launcher: () => {},
      open: () => {},
      link: () => {},
    });
    link.current.listen(ended);
    element.src = url;
  }, []);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const ended = new AbortController();
    const fail = () => !ended.signal.aborted && setStage((now) => (now === "opening" ? "failed" : now));
    const patience = setTimeout(fail, READY_MS);
    session.api.pastTicket().then(({ url }) => {
      if (!ended.signal.aborted) open(element, url, ended.signal);
    }, fail);
    return () => {
      ended.abort();
      clearTimeout(patience);
    };
  }, [frame, open, session]);
  return [stage, link] as const;
}

/** The size the desktop has in this page, and the part of it that there is room for. */
function useRoom(box: React.RefObject<HTMLDivElement | null>) {
  const [room, setRoom] = useState({ width: 1, height: 1, scale: 1 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: whole } = document.documentElement;
      const bar = document.querySelector("header")?.clientHeight ?? 0;
      setRoom({ width, height: whole - bar, scale: element.clientWidth / width });
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    watch.observe(document.documentElement);
    return () => watch.disconnect();
  }, [box]);
  return room;
}
