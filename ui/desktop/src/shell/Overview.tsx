export { OverviewPanel as default } from "./OverviewPanel";
