//! Comments that act: what a tool, a compiler or a framework reads in them.
//!
//! Most of them are known by their shape ([`crate::code::program`] says which); here is what a shape does not tell.

/// What begins a comment, longest first, in any language.
pub(in crate::code) const OPENERS: &[&str] = &[
    "<!--", "{--", "--[[", "/**", "/*!", "///", "//!", "/*", "//", "{-", "(*", "---", "--", "##", "#", ";;", ";", "%", "*",
];

/// Beginnings of whole comments, white space squeezed; an empty language is every language.
pub(in crate::code) const BEGINNINGS: &[(&str, &[&str])] = &[
    ("go", &["//export ", "//line ", "/*line ", "//extern "]),
    ("javascript", SCRIPT),
    ("typescript", SCRIPT),
    ("tsx", SCRIPT),
    ("sql", &["/*+", "/*!", "--changeset", "--rollback", "--liquibase", "--precondition", "-- migrate"]),
    ("php", &["#["]),
    ("html", HTML),
    ("vue", HTML),
    ("svelte", HTML),
    ("haskell", &["{-#"]),
    ("c", &["/*@", "//@"]),
    ("cpp", &["/*@", "//@"]),
];

const SCRIPT: &[&str] = &["/// <", "//# ", "/*! "];
const HTML: &[&str] = &["<!--[", "<!--<!", "<!--#", "<!-- ko", "<!-- /ko", "<!--esi", "<!-- [if"];

/// Keys that say something before a colon: `# type: ignore`. Those with `_` or `-` in them (`frozen_string_literal:`)
/// are known by that.
pub(in crate::code) const KEYS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "coding", "encoding", "vim", "vi", "ex", "fmt", "isort", "yapf", "ruff", "mypy", "pyright", "pylint",
            "flake8", "pragma", "cython", "distutils", "jshint", "jslint", "eslint", "cspell", "spell", "rubocop",
            "tslint", "stylelint", "swiftlint", "detekt", "ktlint", "checkstyle", "codespell", "mutmut", "sourcery",
        ],
    ),
    ("go", &["output"]),
    ("python", &["type"]),
    ("ruby", &["typed"]),
    ("sql", &["name", "param", "result", "sqlfluff", "dialect"]),
    ("yaml", &["schema"]),
    ("toml", &["schema"]),
];

/// Words that say something alone.
pub(in crate::code) const ALONE: &[&str] = &[
    "noqa", "nosec", "nolint", "nolintnextline", "nolintbegin", "nolintend", "nosonar", "noinspection", "nocover",
    "fallthrough", "lcov_excl_line", "lcov_excl_start", "lcov_excl_stop", "gcovr_excl_line", "gcovr_excl_start",
    "gcovr_excl_stop", "lint", "doctest", "jscpd", "globals", "exported", "nocov", "formatter",
];

/// Tools that are told something by the words after their name.
pub(in crate::code) const TOOLS: &[&str] = &[
    "istanbul", "c8", "v8", "node", "shellcheck", "clang", "prettier", "eslint", "biome", "rome", "rustfmt", "gofmt",
    "black", "pylint", "rubocop", "standard", "stylelint", "tslint", "hadolint", "tflint", "tfsec", "checkov",
    "swiftlint", "swiftformat", "ktlint", "detekt", "checkstyle", "cppcheck", "coverity", "psalm", "phpstan", "phpcs",
    "phpcsignorefile", "codesniffer", "credo", "dialyzer", "sqlfluff", "sqlc", "goose", "migrate", "dbmate", "flyway",
    "steep", "sorbet", "luacheck", "selene", "stylua", "buildifier", "markdownlint", "yamllint", "spellchecker",
    "global", "jshint", "simplecov", "fmt",
];

/// What tools are told.
pub(in crate::code) const ORDERS: &[&str] = &[
    "disable", "enable", "ignore", "off", "on", "skip", "suppress", "expect", "source", "shell", "next", "start",
    "stop", "todo", "up", "down", "push", "pop", "format", "lint", "line", "error", "nocheck", "check", "false", "true",
];

/// Beginnings of lines, in lower case.
pub(in crate::code) const PHRASES: &[&str] =
    &["code generated", "unordered output:", "do not edit", "begin generated", "end generated", "liquibase formatted"];

/// Tags that document; every other word after `@` acts.
pub(in crate::code) const DOCUMENTING: &[&str] = &[
    "param", "params", "arg", "args", "argument", "return", "returns", "throws", "throw", "exception", "see", "link",
    "linkplain", "author", "authors", "since", "version", "example", "examples", "todo", "copyright", "note", "brief",
    "details", "code", "endcode", "sa", "tparam", "retval", "pre", "post", "file", "description", "summary", "remarks",
    "default", "inheritdoc", "inheritDoc", "category", "module",
];
