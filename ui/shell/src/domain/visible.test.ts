import { expect, it } from "vitest";
import { visible } from "./visible";

it.each([
  ["\x1b]0;TITLE\x07 \x1b[31mFAKE: verified", "\\x1b]0;TITLE\\x07 \\x1b[31mFAKE: verified"],
  ["a\rb", "a\\x0db"],
  ["\0\x7f\x80\x9b\x9f", "\\x00\\x7f\\x80\\x9b\\x9f"],
  ["gnp.\u202efdp.exe\u202c", "gnp.\\u202efdp.exe\\u202c"],
  ["\u061c\u200e\u200f\u2028\u2029\u2066\u2069", "\\u061c\\u200e\\u200f\\u2028\\u2029\\u2066\\u2069"],
])("shows what is in %j", (text, shown) => expect(visible(text)).toBe(shown));

it.each([
  "",
  "plain",
  "two\nlines\r\n\tand a tab",
  "ends\r",
  "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
  "\ud83d\udc68\u200d\ud83d\udc69",
  "a\u00a0b\u00adc",
])("leaves %j as it is", (text) => expect(visible(text)).toBe(text));
