import type { AppState } from "../manifest";

export const states: readonly AppState[] = [];
