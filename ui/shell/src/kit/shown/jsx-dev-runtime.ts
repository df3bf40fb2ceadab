import { Fragment, jsxDEV as make } from "react/jsx-dev-runtime";
import { shownProps } from "./props";

export type { JSX } from "react/jsx-dev-runtime";
export { Fragment };

export const jsxDEV: typeof make = (type, props, ...rest) => make(type, shownProps(type, props), ...rest);
