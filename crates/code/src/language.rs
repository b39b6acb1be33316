//! The table of supported languages.
//!
//! To add a language, add its grammar crate, `queries/<id>/blocks.scm`, a row here, and its token
//! facts in `language_tables`.

use std::sync::{LazyLock, OnceLock};

use super::language_tables::{self, formats, functional, markup, other_languages};
use super::syntax::{Compiled, Syntax};

#[derive(Debug)]
pub struct Language {
    /// The name of the language in records, such as `rust`.
    pub id: &'static str,
    /// The file name endings, without the dot. Case does not matter here, but `R` is listed because
    /// agents that are told the endings compare their case.
    pub extensions: &'static [&'static str],
    /// Whole file names, such as `.bashrc`.
    pub file_names: &'static [&'static str],
    /// The programs named in a `#!` line, without version numbers, such as `python`.
    pub interpreters: &'static [&'static str],
    /// Returns the tree-sitter grammar that parses the language. `None` in a build without it.
    pub grammar: Option<fn() -> tree_sitter::Language>,
    /// The texts of the files `queries/*/blocks.scm` that apply to the language. Languages may
    /// share a file: TypeScript and TSX use `ecmascript` and `typescript`.
    pub queries: &'static [&'static str],
    pub(super) syntax: &'static Syntax,
    compiled: OnceLock<Option<Compiled>>,
}

impl Language {
    pub fn is_data(&self) -> bool {
        !self.syntax.entries.is_empty()
    }

    /// Returns true if the language table says which names are local.
    pub fn has_scopes(&self) -> bool {
        self.syntax.reach.is_some()
    }

    /// Returns true if the indentation of code says what it belongs to.
    pub(super) fn is_nested_by_indentation(&self) -> bool {
        matches!(self.id, "python" | "yaml" | "haskell" | "scala" | "markdown")
    }

    /// Returns the patterns and token facts. Returns `None` in a build without the grammar, or if the
    /// patterns do not fit the grammar; a test makes sure that the latter does not happen.
    pub(super) fn compiled(&self) -> Option<&Compiled> {
        self.compiled
            .get_or_init(|| {
                Compiled::new(&self.grammar?(), &self.queries.concat(), self.syntax)
                    .inspect_err(|error| tracing::error!("queries/{}: {error}", self.id))
                    .ok()
            })
            .as_ref()
    }
}

macro_rules! row {
    ($id:literal, $($facts:tt)+) => { row!(@$id, always, $($facts)+) };
    (rare $id:literal, $($facts:tt)+) => { row!(@$id, rare, $($facts)+) };
    (@$id:literal, $kind:ident, $extensions:expr, $file_names:expr, $interpreters:expr, $grammar:expr, $syntax:expr) => {
        row!(@$id, $kind, $extensions, $file_names, $interpreters, $grammar, $syntax, [$id])
    };
    (@$id:literal, $kind:ident, $extensions:expr, $file_names:expr, $interpreters:expr, $grammar:expr, $syntax:expr, [$($query:literal),+]) => {
        Language {
            id: $id,
            extensions: &$extensions,
            file_names: &$file_names,
            interpreters: &$interpreters,
            grammar: grammar!($kind, $grammar),
            queries: &[$(include_str!(concat!("../../../queries/", $query, "/blocks.scm"))),+],
            syntax: &$syntax,
            compiled: OnceLock::new(),
        }
    };
}

/// The grammar of a row. A build without the feature `all-languages` has none for a rare language.
macro_rules! grammar {
    (always, $grammar:expr) => {
        Some(|| $grammar.into())
    };
    (rare, $grammar:expr) => {{
        #[cfg(feature = "all-languages")]
        let grammar: Option<fn() -> tree_sitter::Language> = Some(|| $grammar.into());
        #[cfg(not(feature = "all-languages"))]
        let grammar: Option<fn() -> tree_sitter::Language> = None;
        grammar
    }};
}

#[rustfmt::skip]
static TABLE: LazyLock<Vec<Language>> = LazyLock::new(|| vec![
    row!("rust", ["rs"], [], [], tree_sitter_rust::LANGUAGE, language_tables::RUST),
    row!("python", ["py", "pyi", "pyw"], [], ["python"], tree_sitter_python::LANGUAGE, language_tables::PYTHON),
    row!("javascript", ["js", "mjs", "cjs", "jsx"], [], ["node"], tree_sitter_javascript::LANGUAGE, language_tables::JAVASCRIPT, ["ecmascript", "javascript"]),
    row!("typescript", ["ts", "mts", "cts"], [], ["deno", "bun"], tree_sitter_typescript::LANGUAGE_TYPESCRIPT, language_tables::TYPESCRIPT, ["ecmascript", "typescript"]),
    row!("tsx", ["tsx"], [], [], tree_sitter_typescript::LANGUAGE_TSX, language_tables::TSX, ["ecmascript", "typescript"]),
    row!("go", ["go"], [], [], tree_sitter_go::LANGUAGE, language_tables::GO),
    row!("java", ["java"], [], [], tree_sitter_java::LANGUAGE, language_tables::JAVA),
    row!("c", ["c", "h"], [], [], tree_sitter_c::LANGUAGE, language_tables::C),
    row!("cpp", ["cpp", "cc", "cxx", "hpp", "hh", "hxx"], [], [], tree_sitter_cpp::LANGUAGE, language_tables::CPP),
    row!("bash", ["sh", "bash"], [".bashrc", ".bash_profile", ".profile"], ["bash", "sh", "dash"], tree_sitter_bash::LANGUAGE, language_tables::BASH),
    row!("json", ["json", "jsonc"], ["composer.lock", "Pipfile.lock", "flake.lock", "deno.lock", "Package.resolved"], [], tree_sitter_json::LANGUAGE, language_tables::JSON),
    row!("yaml", ["yaml", "yml"], ["pubspec.lock", "Podfile.lock", "pixi.lock"], [], tree_sitter_yaml::LANGUAGE, language_tables::YAML),
    row!("toml", ["toml"], ["Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile"], [], tree_sitter_toml_ng::LANGUAGE, language_tables::TOML),
    row!("markdown", ["md", "markdown"], [], [], tree_sitter_md::LANGUAGE, language_tables::MARKDOWN),
    row!("csharp", ["cs", "csx"], [], ["dotnet-script"], tree_sitter_c_sharp::LANGUAGE, other_languages::CSHARP),
    row!("ruby", ["rb", "rake", "gemspec", "ru", "rbi"], ["Gemfile", "Rakefile", "Guardfile", "Podfile", "Vagrantfile", "Brewfile", "Fastfile"], ["ruby"], tree_sitter_ruby::LANGUAGE, other_languages::RUBY),
    row!("php", ["php", "phtml", "phpt"], [], ["php"], tree_sitter_php::LANGUAGE_PHP, other_languages::PHP),
    row!(rare "kotlin", ["kt", "kts"], [], ["kotlin"], tree_sitter_kotlin_sg::LANGUAGE, other_languages::KOTLIN),
    row!(rare "lua", ["lua", "rockspec"], [], ["lua", "luajit", "texlua"], tree_sitter_lua::LANGUAGE, other_languages::LUA),
    row!(rare "swift", ["swift"], [], ["swift"], tree_sitter_swift::LANGUAGE, other_languages::SWIFT),
    row!(rare "scala", ["scala", "sc", "sbt"], [], ["scala"], tree_sitter_scala::LANGUAGE, other_languages::SCALA),
    row!(rare "dart", ["dart"], [], ["dart"], tree_sitter_dart::LANGUAGE, other_languages::DART),
    row!(rare "zig", ["zig", "zon"], [], [], tree_sitter_zig::LANGUAGE, other_languages::ZIG),
    row!("html", ["html", "htm", "xhtml"], [], [], tree_sitter_html::LANGUAGE, markup::HTML, ["markup", "html"]),
    row!("css", ["css"], [], [], tree_sitter_css::LANGUAGE, markup::CSS),
    row!(rare "vue", ["vue"], [], [], tree_sitter_vue_next::LANGUAGE, markup::VUE, ["markup", "vue"]),
    row!(rare "svelte", ["svelte"], [], [], tree_sitter_svelte_ng::LANGUAGE, markup::SVELTE, ["markup", "svelte"]),
    row!(rare "sql", ["sql", "ddl", "pgsql"], [], [], tree_sitter_sequel::LANGUAGE, functional::SQL),
    row!(rare "elixir", ["ex", "exs"], [], ["elixir"], tree_sitter_elixir::LANGUAGE, functional::ELIXIR),
    row!(rare "haskell", ["hs"], [], ["runghc", "runhaskell"], tree_sitter_haskell::LANGUAGE, functional::HASKELL),
    row!(rare "hcl", ["hcl", "tf", "tfvars"], [], [], tree_sitter_hcl::LANGUAGE, formats::HCL),
    row!("dockerfile", ["dockerfile", "containerfile"], ["Dockerfile", "Containerfile"], [], tree_sitter_containerfile::LANGUAGE, formats::DOCKERFILE),
    row!("make", ["mk", "mak"], ["Makefile", "makefile", "GNUmakefile"], ["make"], tree_sitter_make::LANGUAGE, formats::MAKE),
    row!(rare "proto", ["proto"], [], [], tree_sitter_proto::LANGUAGE, formats::PROTO),
    row!(rare "xml", ["xml", "xsd", "xsl", "xslt", "wsdl", "svg", "plist", "resx", "xaml", "csproj", "fsproj", "vbproj", "props", "targets", "nuspec"], [], [], tree_sitter_xml::LANGUAGE_XML, formats::XML),
    row!("notebook", ["ipynb"], [], [], tree_sitter_json::LANGUAGE, formats::NOTEBOOK),
    row!(rare "powershell", ["ps1", "psm1", "psd1"], [], ["pwsh", "powershell"], tree_sitter_powershell::LANGUAGE, formats::POWERSHELL),
    row!(rare "groovy", ["groovy", "gradle", "gvy"], ["Jenkinsfile"], ["groovy"], arborium_groovy::language(), formats::GROOVY),
    row!(rare "r", ["r", "R"], [".Rprofile"], ["Rscript"], tree_sitter_r::LANGUAGE, formats::R),
    row!(rare "julia", ["jl"], [], ["julia"], tree_sitter_julia::LANGUAGE, formats::JULIA),
    row!(rare "graphql", ["graphql", "graphqls", "gql"], [], [], tree_sitter_graphql::LANGUAGE, formats::GRAPHQL),
    row!(rare "ocaml", ["ml"], [], ["ocaml"], tree_sitter_ocaml::LANGUAGE_OCAML, functional::OCAML),
]);

pub fn by_id(id: &str) -> Option<&'static Language> {
    TABLE.iter().find(|language| language.id == id)
}

/// Returns the language of a file by its name, which may be a path with `/`. For a file without an
/// ending, the `#!` in its first line is used.
pub fn of_file(path: &str, first_line: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(language) = TABLE.iter().find(|language| language.file_names.contains(&name)) {
        return Some(language);
    }
    match name.trim_start_matches('.').rsplit_once('.') {
        Some((_, ending)) => of_extension(ending),
        None => of_interpreter(first_line),
    }
}

fn of_extension(ending: &str) -> Option<&'static Language> {
    let is_ending = |known: &&str| known.eq_ignore_ascii_case(ending);
    TABLE.iter().find(|language| language.extensions.iter().any(is_ending))
}

fn of_interpreter(first_line: &str) -> Option<&'static Language> {
    let words = first_line.trim_start_matches('\u{feff}').strip_prefix("#!")?.split_whitespace();
    let program = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    TABLE.iter().find(|language| language.interpreters.contains(&program))
}

/// Returns all languages, in a fixed order, also those whose grammar this build leaves out.
pub fn languages() -> &'static [Language] {
    &TABLE
}

pub fn with_grammar() -> impl Iterator<Item = &'static Language> {
    TABLE.iter().filter(|language| language.grammar.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_ending_name_and_first_line() {
        let cases = [
            ("src/a.rs", "", Some("rust")),
            ("a.pyi", "", Some("python")),
            ("a.MJS", "", Some("javascript")),
            ("a.jsx", "", Some("javascript")),
            ("a.cts", "", Some("typescript")),
            ("a.tsx", "", Some("tsx")),
            ("a.h", "", Some("c")),
            ("a.hh", "", Some("cpp")),
            ("a.jsonc", "", Some("json")),
            ("a.yml", "", Some("yaml")),
            ("a.HTM", "", Some("html")),
            ("a.css", "", Some("css")),
            ("a.scss", "", None),
            ("A.vue", "", Some("vue")),
            ("+page.svelte", "", Some("svelte")),
            ("a.sql", "", Some("sql")),
            ("run", "#!/usr/bin/env elixir", Some("elixir")),
            ("x/.bashrc", "", Some("bash")),
            ("Makefile", "", Some("make")),
            ("build.gradle", "", Some("groovy")),
            ("ci/Dockerfile", "", Some("dockerfile")),
            ("main.tf", "", Some("hcl")),
            ("R/a.R", "", Some("r")),
            ("a.ipynb", "", Some("notebook")),
            ("poetry.lock", "", Some("toml")),
            ("go.sum", "", None),
            ("a.unknown", "#!/bin/bash", None),
            ("run", "#!/usr/bin/env -S python3.12 -u", Some("python")),
            ("run", "#!/bin/sh -e", Some("bash")),
            ("run", "#!/usr/bin/env node", Some("javascript")),
            ("run", "#!/usr/bin/perl", None),
            ("run", "", None),
            ("app.rb", "", Some("ruby")),
            ("Rakefile", "", Some("ruby")),
            ("bin/console", "#!/usr/bin/env ruby", Some("ruby")),
            ("index.php", "", Some("php")),
            ("init.lua", "", Some("lua")),
            ("main.dart", "", Some("dart")),
            ("build.zig.zon", "", Some("zig")),
            ("", "#!", None),
        ];
        for (path, first_line, id) in cases {
            assert_eq!(of_file(path, first_line).map(|found| found.id), id, "{path} {first_line}");
        }
    }

    #[test]
    fn ids_are_unique_and_found() {
        for language in languages() {
            assert!(std::ptr::eq(by_id(language.id).expect("listed"), language));
        }
        assert!(by_id("cobol").is_none());
    }

    #[test]
    fn rare_grammars_are_there_when_their_feature_is_on() {
        for id in ["kotlin", "swift", "scala", "julia"] {
            let has_grammar = by_id(id).expect("listed").grammar.is_some();
            assert_eq!(has_grammar, cfg!(feature = "all-languages"), "{id}");
        }
        assert!(by_id("rust").expect("listed").grammar.is_some());
    }
}
