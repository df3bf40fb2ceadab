// Prints the script that the desktop needs before its prompt accepts keys; fails above the budget.
import { BUDGET, measureScript } from "./lib/budget.js";
import { startChoir } from "./lib/choir.js";

const choir = await startChoir();
const bytes = await measureScript(choir).finally(() => choir.stop());
console.log(`${bytes} bytes`);
if (bytes > BUDGET) {
  console.error(`the budget is ${BUDGET}: see what npm run build lists in ui/desktop, and load it when it is needed`);
  process.exitCode = 1;
}
