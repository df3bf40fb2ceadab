import type { ITheme } from "@xterm/xterm";

const light = {
  black: "#22211e",
  red: "#a1352b",
  green: "#226b45",
  yellow: "#80540a",
  blue: "#2450a4",
  magenta: "#7b3a8c",
  cyan: "#146a74",
  white: "#69655d",
  brightBlack: "#4d4a44",
  brightRed: "#b3392d",
  brightGreen: "#1f7547",
  brightYellow: "#8a5a05",
  brightBlue: "#2b5cbd",
  brightMagenta: "#8a409d",
  brightCyan: "#167682",
  brightWhite: "#22211e",
};

const dark = {
  black: "#2d2e33",
  red: "#f1958b",
  green: "#7fcf9f",
  yellow: "#e3b667",
  blue: "#8fb4f5",
  magenta: "#d3a0e6",
  cyan: "#7ccdd6",
  white: "#c3bfb6",
  brightBlack: "#8b877f",
  brightRed: "#ffb0a7",
  brightGreen: "#9be3b7",
  brightYellow: "#f5cf87",
  brightBlue: "#aecaff",
  brightMagenta: "#e6bdf5",
  brightCyan: "#9ee3ea",
  brightWhite: "#ffffff",
};

/** The colours of a terminal, of the tokens that are in force where an element stands. */
export function paletteAt(element: HTMLElement): ITheme {
  const probe = document.createElement("span");
  element.append(probe);
  const color = (token: string) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const background = color("surface");
  const foreground = color("ink");
  const theme: ITheme = {
    ...(isDark(background) ? dark : light),
    background,
    foreground,
    cursor: color("accent"),
    cursorAccent: color("accent-ink"),
    selectionBackground: color("selection"),
    selectionForeground: foreground,
  };
  probe.remove();
  return theme;
}

/** Whether light text is to be read on a colour such as "rgb(28, 29, 32)". */
export function isDark(color: string): boolean {
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
