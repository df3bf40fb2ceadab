import { notifyProblem } from "#base/kit/notify.ts";
import { deskWords } from "../i18n/desk";
import { say } from "../i18n/words";
import { useStore } from "../state/store";
import { type Doc, documents } from "../transport/documents";
import type { Windows } from "./windows";

/** Begins an empty document; without a title it has the name of one without. Gives undefined once a refusal was told. */
export async function beginDocument(title = ""): Promise<Doc | undefined> {
  try {
    return await documents.create(title || say(deskWords, useStore.getState().language, "untitled"));
  } catch (refused) {
    notifyProblem(refused);
    return undefined;
  }
}

/** Begins an empty document and opens its page, where the cursor is in the text. */
export async function openNewDocument(windows: Windows, title = ""): Promise<void> {
  // The page's code is fetched meanwhile.
  windows.apps.preload("writer");
  const doc = await beginDocument(title);
  if (doc) await windows.open("writer", `document:${doc.id}`, doc.title);
}
