// Which lines have which colour, and what the colours mean. Plain data in, plain data out.

import type { Block } from "./answers";
import { author, titleOf, visible } from "./words";

/** What colours are by. */
export type ColouredBy = "off" | "intent" | "contributor";

/** Colours that people with a colour blindness can tell apart, and that can be seen on light and on dark. */
export const COLOURS = ["#0a84d6", "#d9730d", "#1a9e6e", "#c2539b", "#8f6fd6", "#b58900", "#d1453b", "#6b7f99"];

/** Lines from 0, both ends included, and whose they are. */
export interface Stripe {
  start: number;
  end: number;
  owner: string;
}

/** Whose a block is; empty where no record says it. */
function ownerOf(block: Block, by: ColouredBy): string {
  if (by === "intent") return block.intent && block.record ? titleOf(block.intent) : "";
  return by === "contributor" ? visible(author(block)) : "";
}

/** Who owns which lines. An inner block has its own colour, or none. */
export function stripes(blocks: Block[], by: ColouredBy): Stripe[] {
  const owners: string[] = [];
  // Blocks are sorted by their start, so an inner block comes after the outer one.
  for (const block of blocks) for (let line = block.start_line - 1; line < block.end_line; line += 1) owners[line] = ownerOf(block, by);
  const found: Stripe[] = [];
  owners.forEach((owner, line) => {
    const last = found.at(-1);
    if (last?.owner === owner && last.end === line - 1) last.end = line;
    else if (owner) found.push({ start: line, end: line, owner });
  });
  return found;
}

/** Gives each owner a colour, in the order in which they are met. Two owners share one only if there are more owners than colours. */
export class Palette {
  private readonly given = new Map<string, number>();

  of(owner: string): number {
    const place = this.given.get(owner) ?? this.given.size;
    this.given.set(owner, place);
    return place % COLOURS.length;
  }
}
