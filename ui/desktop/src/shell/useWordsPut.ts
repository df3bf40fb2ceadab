import { type RefObject, useEffect } from "react";
import { useStore } from "../state/store";

/** Words that are offered, or come back from a run that failed, stand in the box: over others only when somebody asked for them. */
export function useWordsPut(
  text: string,
  change: (text: string) => void,
  box: RefObject<HTMLTextAreaElement | null>,
): void {
  const words = useStore((s) => s.words);
  const blank = text.trim() === "";
  useEffect(() => {
    if (!words) return;
    const { putWords, setRepo } = useStore.getState();
    putWords(undefined);
    if (!blank && !words.over) return;
    change(words.text);
    setRepo(words.repo);
    if (words.over) box.current?.focus();
  }, [words, blank, change, box]);
}
