import type { Translated } from "#base/domain/words.ts";
import type { gaps as english } from "../en/gaps";

export const gaps: Translated<typeof english> = {
  lacksDepth:
    "Alle Programme einer Sandbox zusammen können etwa {depth} Dateien oder Ordner ineinander offen haben: so viele erlaubt diese Maschine. Darüber hinaus kann keines etwas öffnen, bis welche enden; die Stufe local hat diese Grenze nicht.",
  lacksDiskLimit: "Der Platz auf der Platte ist nicht begrenzt.",
  lacksEngineLimits:
    "Speicher, Rechenzeit und Prozesse sind nicht begrenzt: die Engine setzt hier keine Grenzen durch.",
  lacksFileLimit: "Leere Dateien im Speicher begrenzt nur der Speicher selbst.",
  lacksJailer:
    "Firecracker läuft ohne seinen Jailer: was aus ihm ausbricht, sieht die Dateien des Hosts, die sein Benutzer lesen darf.",
  lacksKVM:
    "KVM ist hier nicht zu haben: Maschinen werden emuliert, von Code, der nicht dafür geschrieben ist, einen Angreifer aufzuhalten, und Programme brauchen 10- bis 30-mal so lange.",
  lacksLandlock: "Diesem Kernel fehlt Landlock: nur die Mounts entscheiden, was beschreibbar ist.",
  lacksLimits: "Speicher und Rechenzeit sind nicht begrenzt.",
  lacksMemoryLimit: "Der Speicher ist für jeden Prozess begrenzt, nicht für alle zusammen.",
  lacksMonitorLimits:
    "Keine cgroup begrenzt {monitor}: was aus dem Kernel der Maschine ausbricht, hat keine Grenzen für Speicher und CPU.",
  lacksMonitorUser: "{monitor} läuft als der Benutzer, der choir ausführt, nicht als ein eigener.",
  lacksNames:
    "Programme, die keinen Proxy kennen, finden keinen Host bei seinem Namen: das Image ist von einem früheren choir, ein neues baut choir image build.",
  lacksSize:
    "Keine cgroup begrenzt Speicher und Rechenzeit: das tut die Größe des Sprites, und Fly entscheidet, ob es die bestellte ist.",
  lacksTaskWalls:
    "Eine Aufgabe in einem Projekt kann in anderen schreiben: dafür fehlt die dritte Version von Landlock (Linux 6.2).",
  lacksTaskWallsHere: "Eine Aufgabe in einem Projekt kann in anderen schreiben: gVisor hat kein Landlock.",
  lacksTaskWallsImage:
    "Eine Aufgabe in einem Projekt kann in anderen schreiben: dafür braucht es die dritte Version von Landlock, und das Image hat Linux {kernel}.",
  lacksTaskWallsSprite:
    "Eine Aufgabe in einem Projekt kann in anderen schreiben: dafür braucht es die dritte Version von Landlock (Linux 6.2), die dem Kernel des Sprites fehlt.",
  lacksTimeLimit: "Rechenzeit ist nicht begrenzt.",
  lacksTrust:
    "Die Maschine, ihr Kernel und ihre Platte gehören Fly: Fly kann den Arbeitsbereich und alles, was darin läuft, lesen und ändern, und choir kann nicht sehen, ob die Maschine ist, was Fly sagt.",
  lacksUser: "Sandboxen laufen als der Benutzer, der choir ausführt, nicht als ein eigener.",
  lacksVictims: "Ein Programm, das mehr Speicher nimmt, als da ist, beendet seine ganze Sandbox.",
};
