/** Ends the task that is going on: keys and drawing come first, and what follows is a task of its own. */
export function nextTask(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?(): Promise<void> } };
  return scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
}
