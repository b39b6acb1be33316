//! The content of the demo: two files in two languages as a person wrote them, and how an agent
//! changed each. An edit is the old and the new text.

pub(super) const README: &str = "\
# A shop

People sign in with tokens (`src/auth`), and are sent invoices (`src/billing`).
";

pub(super) const TOKENS: &str = "src/auth/tokens.py";

pub(super) const TOKENS_BEFORE: &str = r#""""Tokens that people sign in with."""

import hmac
import json
import time


def sign(claims: dict, key: bytes) -> str:
    """A token for these claims."""
    body = json.dumps(claims, sort_keys=True)
    mark = hmac.new(key, body.encode(), "sha256").hexdigest()
    return f"{body}.{mark}"


def verify(token: str, key: bytes) -> dict:
    """The claims of a token, if it is ours."""
    body, mark = token.rsplit(".", 1)
    expected = hmac.new(key, body.encode(), "sha256").hexdigest()
    if mark != expected:
        raise ValueError("not our token")
    return json.loads(body)
"#;

pub(super) const TOKENS_EDITS: [(&str, &str); 3] = [
    ("if it is ours.", "if it is ours and has not expired."),
    ("if mark != expected:", "if not hmac.compare_digest(mark, expected):"),
    (
        "    return json.loads(body)\n",
        r#"    claims = json.loads(body)
    if is_expired(claims):
        raise ValueError("expired")
    return claims


def is_expired(claims: dict, now: float | None = None) -> bool:
    """Whether the time of a token is over; one without a time never expires."""
    until = claims.get("exp")
    if until is None:
        return False
    return until <= (time.time() if now is None else now)
"#,
    ),
];

pub(super) const INVOICE: &str = "src/billing/invoice.ts";

pub(super) const INVOICE_BEFORE: &str = r#"export interface Line {
  name: string;
  cents: number;
  count: number;
}

export class Invoice {
  constructor(readonly lines: Line[]) {}

  /** What is to be paid, in cents. */
  total(): number {
    return this.lines.reduce((sum, line) => sum + line.cents * line.count, 0);
  }
}
"#;

pub(super) const INVOICE_EDITS: [(&str, &str); 3] = [
    ("readonly lines: Line[]", "readonly lines: Line[], readonly taxRate = 0"),
    ("in cents. */", "in cents, with taxes. */"),
    (
        "    return this.lines.reduce((sum, line) => sum + line.cents * line.count, 0);\n  }\n}\n",
        r#"    const net = this.lines.reduce((sum, line) => sum + line.cents * line.count, 0);
    return net + roundHalfUp(net * this.taxRate);
  }

  /** As people read it: 12.50. */
  shown(): string {
    const total = this.total();
    return `${Math.trunc(total / 100)}.${String(total % 100).padStart(2, "0")}`;
  }
}

/** Half a cent is a cent. */
export function roundHalfUp(cents: number): number {
  return Math.floor(cents + 0.5);
}
"#,
    ),
];

/// A later edit of the invoice. Its author works under the intent of the other file.
pub(super) const OUT_OF_SCOPE: (&str, &str) =
    ("roundHalfUp(net * this.taxRate);", "Math.round(net * this.taxRate);");
