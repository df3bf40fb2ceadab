import { FileCode, FilePlus2, FolderOpen } from "lucide-react";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { asPart, nameTrouble } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { AskName } from "../../kit/AskName";
import { Empty } from "../../kit/States";
import { useWindow } from "../../session/useWindow";
import { useStore } from "../../state/store";
import { files } from "../../transport/files";
import { words } from "./i18n";

/** The folder that a new file is made in. */
const FOLDER = "workspace";

/** No file is open: ways to one that is there, and to a new one. */
export function Start() {
  const { show, focus } = useWindow();
  const t = useWords(words);
  const setPanel = useStore((s) => s.setPanel);
  const [naming, setNaming] = useState(false);
  const make = async (name: string) => {
    const path = `${FOLDER}/${name.trim().split("/").map(asPart).join("/")}`;
    try {
      await files.write(path, "", undefined);
      show(path);
    } catch (refused) {
      notifyProblem(refused);
    }
  };
  return (
    <>
      <Empty icon={<FileCode size={38} strokeWidth={1.4} aria-hidden />} title={t("nothing")}>
        <p>{t("nothingMore")}</p>
        <div className="code-begin">
          <Button look="primary" data-autofocus onClick={() => setPanel("launcher")}>
            <FolderOpen size={15} aria-hidden /> {t("openFile")}
          </Button>
          <Button onClick={() => setNaming(true)}>
            <FilePlus2 size={15} aria-hidden /> {t("newFile")}
          </Button>
        </div>
      </Empty>
      {naming && (
        <AskName
          title={t("newFileName")}
          value=""
          ok={t("create")}
          cancel={t("cancel")}
          trouble={(name) => (name.trim().split("/").some(nameTrouble) ? t("newFileTrouble") : undefined)}
          onName={(name) => unawaited(make(name))}
          onClose={() => {
            setNaming(false);
            focus();
          }}
        />
      )}
    </>
  );
}
