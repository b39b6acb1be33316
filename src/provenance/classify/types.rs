//! Whether a value keeps its type on its way into a helper and out of it.
//!
//! `h(n)` with an `int` for a `double` is a conversion, and `n / 2` in the helper
//! is another division than it was in the caller. So in languages that convert
//! silently, an argument must evidently be of its parameter's type, and a result
//! of the type that the helper says it gives back.

use std::collections::HashMap;

use crate::code::program::{Name, Tree};
use crate::code::rows::roles::Role;

/// Whether the language has no types that change what an expression does.
fn is_untyped(language: &str) -> bool {
    matches!(language, "python" | "javascript" | "typescript" | "tsx" | "ruby" | "php" | "lua")
}

/// The declared types of locals.
#[derive(Clone, Debug, Default)]
pub(super) struct Types(HashMap<u32, String>);

impl Types {
    /// Of a resolved tree.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut types = Self::default();
        tree.visit(&mut |node| {
            let Some(said) = node.child("type").map(Tree::words) else { return };
            let names =
                |child: &&Tree| matches!(child.field, Some("name" | "declarator" | "pattern"));
            node.children.iter().filter(names).for_each(|one| types.place(one, said.clone()));
        });
        types
    }

    fn place(&mut self, declarator: &Tree, said: String) {
        if let Name::Local(local) = declarator.name {
            self.0.insert(local, said);
            return;
        }
        let said = match declarator {
            _ if declarator.is_a(Role::VariableDeclarator)
                && declarator.child("dimensions").is_none() =>
            {
                said
            }
            _ if declarator.is_a(Role::InitDeclarator) => said,
            _ if declarator.is_a(Role::IndirectDeclarator) => said + " *",
            _ => return,
        };
        let inner = declarator.child("name").or_else(|| declarator.child("declarator"));
        if let Some(inner) = inner {
            self.place(inner, said);
        }
    }

    /// The type that a local is declared with.
    pub(super) fn of_local(&self, local: u32) -> Option<&str> {
        self.0.get(&local).map(String::as_str)
    }

    /// The type of a value, where that is evident.
    fn of_value(&self, value: &Tree, language: &str) -> Option<String> {
        if let Name::Local(local) = value.name {
            return self.of_local(local).filter(|said| !is_inferred(said)).map(str::to_owned);
        }
        match value {
            _ if value.is_a(Role::OfSaidType) => value.child("type").map(Tree::words),
            _ if value.is_a(Role::Unary)
                && value.children.first().is_some_and(|sign| sign.is("-")) =>
            {
                self.of_value(value.children.last()?, language)
            }
            _ => of_literal(value, language).map(str::to_owned),
        }
    }

    /// Whether an argument is of its parameter's type without a conversion.
    pub(super) fn passes(&self, argument: &Tree, parameter: Option<&str>, language: &str) -> bool {
        if is_untyped(language) {
            return true;
        }
        let Some(wanted) = parameter else { return language == "rust" };
        match (self.of_value(argument, language), language) {
            // What is no literal has its own type, and is not converted.
            (Some(is), "rust") => is == wanted || !is_numeric(wanted),
            // No value is of a type without a size.
            (None, "rust") => wanted != "str" && (!wanted.starts_with('[') || wanted.contains(';')),
            (Some(is), _) => is == wanted,
            (None, _) if argument.is_a(Role::Null) => !is_numeric(wanted),
            (None, "go") if is_constant(argument) => is_composite(wanted),
            (None, _) => is_unconverted(wanted, language),
        }
    }

    /// Whether a result is of the type that a helper gives back.
    pub(super) fn comes_back(&self, result: &Tree, returns: Option<&str>, language: &str) -> bool {
        if is_untyped(language) || language == "rust" {
            return true;
        }
        let Some(returns) = returns else { return false };
        if is_truth(result) && matches!(returns, "boolean" | "bool" | "_Bool") {
            return true;
        }
        match self.of_value(result, language) {
            Some(is) => is == returns,
            // The sum of what is smaller than an `int` is one; what is larger would not be converted.
            None if language == "java" && returns == "int" => result.is_a(Role::Binary),
            None if language == "java" && returns == "boolean" => true,
            None if language == "go" && is_constant(result) => is_composite(returns),
            None => is_unconverted(returns, language),
        }
    }
}

/// What the literals of a language are, where nothing is said.
struct LiteralTypes {
    whole: &'static str,
    point: &'static str,
    text: Option<&'static str>,
    character: Option<&'static str>,
    truth: Option<&'static str>,
}

fn literal_types(language: &str) -> Option<LiteralTypes> {
    let (whole, point, text, character, truth) = match language {
        "rust" => ("i32", "f64", None, None, None),
        "go" => ("int", "float64", Some("string"), None, Some("bool")),
        "java" => ("int", "double", Some("String"), Some("char"), Some("boolean")),
        "c" => ("int", "double", None, None, None),
        "cpp" => ("int", "double", None, None, Some("bool")),
        _ => return None,
    };
    Some(LiteralTypes { whole, point, text, character, truth })
}

fn of_literal(value: &Tree, language: &str) -> Option<&'static str> {
    let text = value.words();
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '_');
    let types = literal_types(language)?;
    match value {
        _ if value.is_a(Role::Number) && plain => Some(types.whole),
        _ if value.is_a(Role::Number)
            && text.contains('.')
            && text.ends_with(|c: char| c.is_ascii_digit()) =>
        {
            Some(types.point)
        }
        _ if value.is_a(Role::PlainText) => types.text,
        _ if value.is_a(Role::Character) => types.character,
        _ if value.is_a(Role::TruthValue) => types.truth,
        _ => None,
    }
}

/// `var`, `auto`: what it is was not said.
fn is_inferred(said: &str) -> bool {
    matches!(said, "var" | "auto" | "val" | "let" | "const auto" | "_")
}

/// What may be a constant of Go, which becomes what it is given to.
fn is_constant(value: &Tree) -> bool {
    !value.any(&|node| matches!(node.name, Name::Local(_)) || node.is_a(Role::CallLike))
}

fn is_composite(said: &str) -> bool {
    said.starts_with(['*', '[']) || said.starts_with("map ") || said.starts_with("func ")
}

/// A comparison, or what is made of such.
fn is_truth(value: &Tree) -> bool {
    const TRUTH: &[&str] = &["==", "!=", "<", ">", "<=", ">=", "&&", "||", "!", "instanceof"];
    let operator = |child: &Tree| child.text.as_deref().is_some_and(|text| TRUTH.contains(&text));
    value.is_a(Role::Truth) || (value.is_a(Role::Operation) && value.children.iter().any(operator))
}

fn is_numeric(said: &str) -> bool {
    const NUMERIC: &[&str] = &[
        "byte", "short", "int", "long", "float", "double", "char", "boolean", "bool", "i8", "i16",
        "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    ];
    NUMERIC.contains(&said)
}

/// A type that holds values of several types: what it does with them, it does not do as they would.
fn is_dynamic(said: &str) -> bool {
    const ANY: &[&str] = &[
        "Object",
        "any",
        "interface {}",
        "interface { }",
        "error",
        "dynamic",
        "Number",
        "Integer",
        "Long",
        "Short",
        "Byte",
        "Character",
        "Double",
        "Float",
        "Boolean",
    ];
    ANY.contains(&said) || said.len() == 1
}

/// A type that takes nothing but values of its own, or of a more special one.
fn is_unconverted(said: &str, language: &str) -> bool {
    match language {
        "java" => said == "boolean" || !(is_numeric(said) || is_dynamic(said)),
        "go" => !is_dynamic(said),
        // A name may stand for a number, and a class may be made of anything.
        "c" | "cpp" => said.ends_with('*') && !said.starts_with("void"),
        _ => false,
    }
}

/// What a function says it gives back.
pub(super) fn returned_type(core: &Tree, language: &str) -> Option<String> {
    match language {
        "go" => core.child("result").map(Tree::words),
        "c" | "cpp" => {
            let pointer =
                core.child("declarator").is_some_and(|one| one.is_a(Role::PointerDeclarator));
            let said = core.child("type").map(Tree::words)?;
            Some(if pointer { said + " *" } else { said })
        }
        _ => core.child("type").or_else(|| core.child("return_type")).map(Tree::words),
    }
}
