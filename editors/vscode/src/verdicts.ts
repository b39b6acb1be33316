// How a verdict looks. Colours are those of the theme, and each comes with a word or a shape.

import * as vscode from "vscode";
import type { Block, Verdict } from "./answers";

const LOOKS: Record<Verdict, [icon: string, colour: string]> = {
  exact: ["pass", "testing.iconPassed"],
  reformatted: ["pass", "testing.iconPassed"],
  renamed: ["symbol-keyword", "charts.blue"],
  moved: ["arrow-swap", "charts.blue"],
  modified: ["edit", "charts.yellow"],
  ambiguous: ["question", "charts.orange"],
  unrecorded: ["circle-outline", "disabledForeground"],
};

export function icon(block: Block): vscode.ThemeIcon {
  const seen: Verdict = block.verdict === "modified" && block.only_inside ? "exact" : block.verdict;
  const [name, colour] = LOOKS[seen] ?? LOOKS.unrecorded;
  return new vscode.ThemeIcon(name, new vscode.ThemeColor(colour));
}

/** The bars of the gutter: one picture a group, for light and dark alike. */
export const BARS: Record<Verdict, "same" | "elsewhere" | "changed" | "unsure" | undefined> = {
  exact: "same",
  reformatted: "same",
  renamed: "elsewhere",
  moved: "elsewhere",
  modified: "changed",
  ambiguous: "unsure",
  unrecorded: undefined,
};
