import { expect, it } from "vitest";
import { addressIn } from "./offer";

it.each([
  ["https://example.org/a?b=c", "https://example.org/a?b=c"],
  ["  http://example.org\n", "http://example.org/"],
  ["see https://example.org", undefined],
  ["javascript:alert(1)", undefined],
  ["file:///etc/passwd", undefined],
  ["https://", undefined],
  ["", undefined],
])("%s is %s", (text, address) => expect(addressIn(text)).toBe(address));
