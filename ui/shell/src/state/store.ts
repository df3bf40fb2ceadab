import { create } from "zustand";
import { type ComputerSlice, computerSlice } from "./computer";
import { type EventsSlice, eventsSlice } from "./events";
import { type FrameSlice, frameSlice } from "./frame";
import { type MarksSlice, marksSlice } from "./marks";
import { type StoriesSlice, storiesSlice } from "./stories";
import { type ViewSlice, viewSlice } from "./view";

/** All that the page knows. It lives as long as the page: the server owns the state. */
export type State = ComputerSlice & EventsSlice & FrameSlice & MarksSlice & StoriesSlice & ViewSlice;

export const useStore = create<State>()((...a) => ({
  ...computerSlice(...a),
  ...eventsSlice(...a),
  ...frameSlice(...a),
  ...marksSlice(...a),
  ...storiesSlice(...a),
  ...viewSlice(...a),
}));
