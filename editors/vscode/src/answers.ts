// The parts of the server's answers that are shown, as described in docs/commands.md. Answers contain other people's
// text, so code that uses them must not assume that it is short or free of odd characters.

export interface Intent {
  id: string;
  name: string;
  status: string | null;
  owned_scope: string[];
  owner: string | null;
  selected: boolean;
  /** Whether it is being worked on, as the branch or the tool of its format says. */
  current?: boolean;
  /** How many acceptance criteria a passed test has shown; null where nobody has looked yet. */
  criteria?: { shown: number | null; all: number };
  /** What it has produced. Absent if it was not counted. */
  files?: number;
  lines?: number;
  /** The format in which it is kept, and the file or folder that it is. Absent for one of the registry. */
  source?: string;
  unit?: string;
  note?: string;
  tasks?: number;
  tasks_done?: number;
}

/** What is wrong, and what to do. */
export interface Finding {
  path: string | null;
  start_line: number | null;
  message: string;
  help: string;
}

export interface Status {
  root: string;
  governed: boolean;
  selection: string | null;
  selected: Intent | null;
  intents: number;
  in_progress: number;
  open_records: number;
  /** Whether the git hooks put records into commits, or none are needed. */
  git_hooks: boolean;
  errors: number;
  warnings: number;
  /** The first of the errors, or else of the warnings. */
  worst?: Finding;
  /** That the registry does not parse, and what is judged by. */
  older_registry?: string;
  head: string | null;
  off: { until: string; reason?: string | null } | null;
  waiting: number;
}

export type Verdict = "exact" | "reformatted" | "renamed" | "moved" | "modified" | "ambiguous" | "unrecorded";

export interface Contributor {
  entity_type: string;
  model_identifier?: string | null;
  name?: string | null;
}

/** A record that brought lines of a block. */
export interface RecordBrief {
  record: string;
  kind: string;
  intent?: string | null;
  contributor?: Contributor | null;
  timestamp?: string | null;
  tool?: string | null;
  commit?: string | null;
  /** Decisions of people that put it under another intent since. */
  reassigned?: { from: string; by?: string | null; timestamp: string }[];
}

/** Consecutive lines that have the same origin. */
export interface LineRun {
  start: number;
  end: number;
  state: "as_recorded" | "unrecorded" | "history_missing";
  from?: { intent?: string | null } | null;
}

/** How many lines of a block one intent, or one commit without a record, brought. */
export interface Share {
  lines: number;
  intent?: string | null;
  commit?: { id: string; author: string } | null;
  uncommitted?: boolean;
  history_missing?: boolean;
}

export interface Block {
  kind: string;
  name: string;
  qualified_name: string;
  start_line: number;
  end_line: number;
  verdict: Verdict;
  only_inside?: boolean;
  accepted?: { contributor: Contributor; timestamp: string; record: string } | null;
  /** How many lines are newer than the record and have none. */
  newer?: number;
  /** Whether lines were removed since the record, and none is newer. */
  cut?: boolean;
  /** Who brought the newer lines. */
  newer_by?: { lines: number; author?: string | null; uncommitted?: boolean }[];
  /** What the commit of the lines tells, if no record names an intent. */
  origin?: { commit: { id: string; author: string; subject: string }; intent?: { id: string; name?: string | null } | null; known_by: "commit_says" | "inferred" | "git" } | null;
  /** What other tools claim about lines without a record. */
  claims?: { lines: number; tool: string; agent?: string | null; model?: string | null; human?: string | null }[];
  /** Which part of the intent changed since. */
  suspect?: { message: string } | null;
  /** Whether this clone lacks history that says who brought some of the lines. */
  history_missing?: boolean;
  intent: { id: string; name: string | null; status: string | null } | null;
  contributor: Contributor | null;
  timestamp: string | null;
  record: string | null;
  tool?: string | null;
  strength?: string | null;
  asked?: { owner?: string; tickets?: string[]; related_specs?: string[]; constraints?: string[] } | null;
  session?: string | null;
  shares?: Share[];
  /** Which lines are whose. */
  lines?: { runs: LineRun[] } | null;
  commit?: { id: string; author: string; timestamp: string | null; subject: string } | null;
  uncommitted?: boolean;
  claimed?: boolean;
  lineage: RecordBrief[];
  candidates: RecordBrief[];
  recorded?: { path: string; name: string } | null;
}

export interface Why {
  path: string;
  blocks: Block[];
  note?: string | null;
}

export interface Recorded {
  recorded: { path: string; intent: string; blocks: number; outcome: string }[];
  skipped: { path: string; reason: string }[];
}
