/** What each limit of the section [limits] bounds, by its key there. */
export const limits = {
  processes: "Processes in one sandbox.",
  memory_mb: "Memory of one sandbox, MiB.",
  cpu_milli: "CPU of one sandbox, thousandths of a core.",
  run_steps: "Model calls of the Director in one run.",
  run_calls: "Model calls of one run, Director, Associate and programs together.",
  run_tokens: "Tokens of one run, Director, Associate and programs together.",
  run_cost_usd: "Cost of one run, US dollars; 0 is no limit.",
  run_seconds: "Wall time of one run, seconds.",
  run_tasks: "Tasks of one run.",
  cost_usd: "Cost of one computer altogether, since its log began, US dollars; 0 is no limit.",
  desktop_cost_usd:
    "Cost of the runs begun on the desktop, by you or by its page, within 24 hours, US dollars; 0 is no limit. Prompts of the top bar’s pages and of the CLI do not count.",
  prompt_burst: "Prompts within prompt_window seconds.",
  prompt_window: "Seconds, see prompt_burst.",
  terminals: "Terminals of one computer that are open at once.",
  upload_mb: "Size of a project or a file that is brought in, MiB.",
};
