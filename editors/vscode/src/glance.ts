// What stands at the end of a line of code: the server's `short`, and which lines show it. Plain data in and out.

import { shorten, visible } from "./words";

/** Which lines say whose they are: none, the cursor's, or all that can be seen. */
export type Lines = "off" | "line" | "all";

/** The answer of `intent.why` at a position, as far as it is used here. */
export interface Glance {
  lines: string[];
  short?: string;
}

const LONGEST = 120;
/** The server's words about a line that nobody recorded. */
const UNRECORDED = /(^| · )git says: |^not committed yet$|^history is missing here$/;

/** The text for a line; empty where there is none. `blamed`: another extension shows what git knows. */
export function textOf(glance: Glance | undefined, blamed: boolean): string {
  const short = glance?.short ?? "";
  return blamed && UNRECORDED.test(short) ? "" : shorten(visible(short), LONGEST);
}

/** The lines that get a text, in their order. Of neighbours with the same text, only the first and the cursor's have it. */
export function textsAt(texts: ReadonlyMap<number, string>, cursor: number): [number, string][] {
  const sorted = [...texts].filter(([, text]) => text).sort(([one], [other]) => one - other);
  return sorted.filter(([line, text]) => line === cursor || texts.get(line - 1) !== text);
}
