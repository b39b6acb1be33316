//! Lists the comments that a tool, a compiler or a framework reads.
//!
//! Most of them are recognised by their shape, in [`crate::program`]. These tables hold the
//! rest.

use crate::lists::words;

/// The signs that begin a comment in any language. A sign comes before those that it begins with.
pub(crate) const OPENERS: &[&str] =
    words!("<!-- {-- --[[ /** /*! /// //! /* // {- (* --- -- ## # ;; ; % *");

/// How whole comments begin, with single spaces. The empty language stands for every language.
pub(crate) const BEGINNINGS: &[(&str, &[&str])] = &[
    ("go", &["//export ", "//line ", "/*line ", "//extern "]),
    ("javascript", SCRIPT),
    ("typescript", SCRIPT),
    ("tsx", SCRIPT),
    (
        "sql",
        &[
            "/*+",
            "/*!",
            "--changeset",
            "--rollback",
            "--liquibase",
            "--precondition",
            "-- migrate",
            "-- !",
            "# --- !",
            "-- :",
            "--;;",
        ],
    ),
    ("php", words!("#[")),
    ("html", HTML),
    ("vue", HTML),
    ("svelte", HTML),
    ("haskell", words!("{-#")),
    ("lua", words!("--!")),
    ("css", words!("/*!")),
    ("c", words!("/*@ //@")),
    ("cpp", words!("/*@ //@")),
    ("powershell", words!("#requires #Requires #REQUIRES")),
    // The `NAMESPACE` file and the documentation are generated from these comments.
    ("r", words!("#'")),
];

const SCRIPT: &[&str] =
    &["/// <", "//# ", "/*! ", "/* global ", "/*global ", "/* exported ", "//@ "];
const HTML: &[&str] = &["<!--[", "<!--<!", "<!--#", "<!-- ko", "<!-- /ko", "<!--esi", "<!-- [if"];

/// Keys before a colon that make a comment a directive: `# type: ignore`. Keys with `_` or `-`,
/// such as `frozen_string_literal:`, are recognised without being listed.
pub(crate) const KEYS: &[(&str, &[&str])] = &[
    (
        "",
        words!(
            "coding encoding vim vi ex fmt isort yapf ruff mypy pyright pylint flake8 pragma
            cython distutils jshint jslint eslint cspell spell rubocop tslint stylelint swiftlint
            detekt ktlint checkstyle codespell mutmut sourcery spdx-license-identifier
            spdx-filecopyrighttext"
        ),
    ),
    ("go", words!("output deprecated")),
    ("python", words!("type")),
    ("ruby", words!("typed")),
    ("sql", words!("name param result depends sqlfluff dialect")),
    ("yaml", words!("schema")),
    ("toml", words!("schema")),
];

/// Words that make a comment a directive on their own.
pub(crate) const ALONE: &[&str] = words!(
    "noqa nosec nolint nolintnextline nolintbegin nolintend nosonar noinspection nocover
    fallthrough lcov_excl_line lcov_excl_start lcov_excl_stop gcovr_excl_line gcovr_excl_start
    gcovr_excl_stop lint doctest jscpd globals exported nocov formatter nodoc startdoc stopdoc
    iwyu fallthru notreached argsused"
);

/// Tools that take orders from the words after their name.
pub(crate) const TOOLS: &[&str] = words!(
    "istanbul c8 v8 shellcheck clang prettier eslint biome rome rustfmt gofmt pylint rubocop
    stylelint tslint hadolint tflint tfsec checkov swiftlint swiftformat ktlint detekt checkstyle
    cppcheck coverity psalm phpstan phpcs phpcsignorefile codesniffer credo dialyzer sqlfluff sqlc
    goose migrate dbmate flyway steep sorbet luacheck selene stylua buildifier markdownlint
    yamllint spellchecker jshint simplecov fmt autoprefixer purgecss kics renovate spotless"
);

/// The orders that tools take from comments.
pub(crate) const ORDERS: &[&str] = words!(
    "disable enable ignore off on skip suppress expect source shell next start stop todo up down
    push pop format lint line error nocheck check false true"
);

/// Orders after a colon, for any tool: `# anything: ignore`.
pub(crate) const REQUESTS: &[&str] = words!("disable enable ignore off skip suppress");

/// A comment whose line begins with one of these, in lower case, is a directive to a tool.
pub(crate) const PHRASES: &[&str] = &[
    "code generated",
    "unordered output:",
    "do not edit",
    "begin generated",
    "end generated",
    "liquibase formatted",
    "changeset ",
    "up migration",
    "down migration",
    "no-transaction",
    "nginject",
    "syntax =",
    "escape =",
    "escape=",
    "magic ",
    "command ----",
    "require ",
    "chkconfig:",
    "begin init info",
    "prqa ",
    "indent-o",
    "pyre-",
    "nopep8",
    "nosemgrep",
    "flake8:",
    "autopep8:",
    "lgtm",
    "stryker ",
    "ignore:",
    "plugin name:",
    "template name:",
    "theme name:",
    "rambler ",
    "i18n-tasks",
    "[clinic",
    "x-release-please",
    "frozen_string_literal",
    "create above",
    "compdef ",
    "autoload",
    "sys ",
    "/ script",
];

/// How lines begin that a test runner reads, in capitals only.
pub(crate) const SHOUTED: &[&str] = words!("RUN: CHECK");

/// Tags that only document. Every other word after `@` makes the comment a directive.
pub(crate) const DOCUMENTING: &[&str] = words!(
    "param params arg args argument return returns throws throw exception see link linkplain
    author authors since version example examples todo copyright note brief details code endcode
    sa tparam retval pre post file description summary remarks default inheritdoc inheritDoc
    category module"
);
