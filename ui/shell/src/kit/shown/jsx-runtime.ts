// What the shell's JSX is compiled to, instead of React's own: no component can
// forget to make a guest's words visible.
import { Fragment, jsx as make, jsxs as makeMany } from "react/jsx-runtime";
import { shownProps } from "./props";

export type { JSX } from "react/jsx-runtime";
export { Fragment };

export const jsx: typeof make = (type, props, key) => make(type, shownProps(type, props), key);
export const jsxs: typeof makeMany = (type, props, key) => makeMany(type, shownProps(type, props), key);
