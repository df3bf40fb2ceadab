/** The texts of the list of events. */
export const events = {
  filter: "Filter events",
  filterPlaceholder: "Filter by words or type",
  onlyRun: "Only this run",
  none: "No event here says that.",
  earlier: "Show earlier events",
} as const;
