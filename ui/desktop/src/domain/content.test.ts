import { describe, expect, it } from "vitest";
import { contentOf } from "./content";

describe("what a file is shown as", () => {
  it.each([
    ["a.png", "image/png", "image", false],
    ["a.jpg", "image/png", "image", false],
    ["a.svg", "image/svg+xml", "image", false],
    ["a.pdf", "application/pdf", "pdf", false],
    ["a.csv", "text/plain; charset=utf-8", "text", false],
    ["Makefile", "text/plain; charset=utf-8", "text", false],
  ] as const)("%s with %s is as it says", (path, type, kind, lies) => {
    expect(contentOf(path, type)).toEqual({ kind, lies });
  });

  it.each([
    ["invoice.pdf", "text/plain; charset=utf-8", "text"],
    ["cat.png", "text/plain; charset=utf-8", "text"],
    ["notes.txt", "image/png", "image"],
    ["table.csv", "application/pdf", "pdf"],
    ["song.mp3", "image/gif", "image"],
    ["cat.png", "application/octet-stream", "none"],
    ["notes.md", "application/octet-stream", "none"],
  ] as const)("%s with %s is what it is, and its name lies", (path, type, kind) => {
    expect(contentOf(path, type)).toEqual({ kind, lies: true });
  });

  it.each([
    ["song.ogg", "video/webm", "audio"],
    ["film.ogv", "audio/ogg", "video"],
    ["film.m4v", "application/octet-stream", "video"],
    ["scan.pdf", "application/octet-stream", "pdf"],
    ["export.csv", "application/octet-stream", "text"],
  ] as const)("%s with %s is what only its name can tell", (path, type, kind) => {
    expect(contentOf(path, type)).toEqual({ kind, lies: false });
  });

  it("a name that says nothing does not lie", () => {
    expect(contentOf("core", "application/octet-stream")).toEqual({ kind: "none", lies: false });
    expect(contentOf("photo", "image/png")).toEqual({ kind: "image", lies: false });
  });
});
