//! Decides whether a value keeps its type when it is passed to a helper and returned from it.
//!
//! `h(n)` with an `int` for a `double` is a conversion, and `n / 2` in the helper is then another
//! division than in the caller. So in languages that convert silently, an argument must evidently
//! have its parameter's type, and a result the helper's declared return type.

use std::collections::{HashMap, HashSet};

use code::language_tables::roles::Role;
use code::lists::words;
use code::program::Tree;

/// Returns true if the language has no types that change what an expression does.
fn is_untyped(language: &str) -> bool {
    matches!(language, "python" | "javascript" | "typescript" | "tsx" | "ruby" | "php" | "lua")
}

#[derive(Clone, Debug, Default)]
pub(super) struct LocalTypes {
    declared: HashMap<u32, String>,
    /// The locals of Rust whose value is made of numbers alone, without a declared type. Their
    /// context decides which number type they have.
    numbers: HashSet<u32>,
}

impl LocalTypes {
    pub(super) fn from_tree(tree: &Tree) -> Self {
        let mut types = Self::default();
        tree.visit(&mut |node| {
            let Some(said) = node.child("type").map(Tree::joined_tokens) else {
                return types.add_number(node);
            };
            // In C, the parameter `int a[]` is a pointer, but the local `int a[9]` is not.
            let array = if node.is_a(Role::Parameter) { " *" } else { " []" };
            let names =
                |child: &&Tree| matches!(child.field, Some("name" | "declarator" | "pattern"));
            let names = node.children.iter().filter(names);
            names.for_each(|one| types.store_type(one, said.clone(), array));
        });
        types
    }

    fn add_number(&mut self, node: &Tree) {
        if node.is_a(Role::LetDeclaration)
            && let Some(local) = node.child("pattern").and_then(Tree::local)
            && node.child("value").is_some_and(|value| self.is_untyped_number(value))
        {
            self.numbers.insert(local);
        }
    }

    /// Returns true if a Rust value is made of numbers whose type depends on their context.
    fn is_untyped_number(&self, value: &Tree) -> bool {
        value.has_node(&|node| node.is_a(Role::Number) || self.is_number_local(node))
            && !self.has_typed_name(value)
    }

    fn is_number_local(&self, node: &Tree) -> bool {
        node.local().is_some_and(|local| self.numbers.contains(&local))
    }

    /// Returns true if a Rust value contains a name that decides its type. Names in the
    /// condition of an `if`, in the value that a `match` tests and in patterns do not decide it.
    fn has_typed_name(&self, value: &Tree) -> bool {
        let is_name = value.is_any(&[Role::Name, Role::This, Role::AnyCall]);
        is_name && !self.is_number_local(value)
            || value.children.iter().any(|child| {
                let is_tested = match child.field {
                    Some("condition" | "value") => value.is_a(Role::Conditional),
                    field => field == Some("pattern"),
                };
                !is_tested && self.has_typed_name(child)
            })
    }

    /// Stores the type `said` of the local in a declarator. `array` is what follows the type of the
    /// elements of an array.
    fn store_type(&mut self, declarator: &Tree, said: String, array: &str) {
        if let Some(local) = declarator.local() {
            self.declared.insert(local, said);
            return;
        }
        let said = match declarator {
            _ if declarator.is_a(Role::VariableDeclarator)
                && declarator.child("dimensions").is_none() =>
            {
                said
            }
            _ if declarator.is_a(Role::InitDeclarator) => said,
            _ if declarator.is_a(Role::PointerDeclarator) => said + " *",
            _ if declarator.is_a(Role::ArrayDeclarator) => said + array,
            _ => return,
        };
        let inner = declarator.child("name").or_else(|| declarator.child("declarator"));
        if let Some(inner) = inner {
            self.store_type(inner, said, array);
        }
    }

    pub(super) fn of_local(&self, local: u32) -> Option<&str> {
        self.declared.get(&local).map(String::as_str)
    }

    fn of_value(&self, value: &Tree, language: &str) -> Option<String> {
        if let Some(local) = value.local() {
            return self.of_local(local).filter(|said| !is_inferred(said)).map(str::to_owned);
        }
        match value {
            _ if value.is_a(Role::OfSaidType) => value.child("type").map(Tree::joined_tokens),
            _ if value.is_a(Role::Unary)
                && value.children.first().is_some_and(|sign| sign.is_token("-")) =>
            {
                self.of_value(value.children.last()?, language)
            }
            _ => of_literal(value, language).map(str::to_owned),
        }
    }

    pub(super) fn passes(&self, argument: &Tree, parameter: Option<&str>, language: &str) -> bool {
        if is_untyped(language) {
            return true;
        }
        let Some(wanted) = parameter else { return language == "rust" };
        match (self.of_value(argument, language), language) {
            // A method of an `impl` or `dyn` is that of the trait. The type itself may have another
            // one of the same name.
            (None, "rust") if wanted.split(' ').any(|word| matches!(word, "impl" | "dyn")) => false,
            // A type without a size (`str`, `[T]`) is never the type of a value.
            (None, "rust") => wanted != "str" && (!wanted.starts_with('[') || wanted.contains(';')),
            (Some(is), _) => is == wanted,
            // `var` may stand for a subtype, and the body may pass the value to an overload.
            (None, "java" | "cpp") if argument.local().is_some() => false,
            // Elsewhere, `null` may choose another overload, or become a typed `nil` in an interface.
            (None, _) if argument.is_a(Role::Null) => language == "c" && !is_numeric(wanted),
            (None, "go") if is_constant(argument) => is_composite(wanted),
            (None, _) => is_unconverted(wanted, language),
        }
    }

    pub(super) fn comes_back(&self, result: &Tree, returns: Option<&str>, language: &str) -> bool {
        if is_untyped(language) {
            return true;
        }
        if language == "rust" {
            return !self.is_untyped_number(result)
                || self.of_value(result, language).as_deref() == returns;
        }
        let Some(returns) = returns else { return false };
        match self.of_value(result, language) {
            Some(is) => is == returns,
            // In Java, an operation on types smaller than `int` gives an `int`, and a larger type
            // is not converted to `int` silently.
            None if language == "java" && returns == "int" => result.is_a(Role::Binary),
            None if language == "java" && returns == "boolean" => true,
            None if language == "go" && result.is_a(Role::Null) => false,
            None if language == "go" && is_constant(result) => is_composite(returns),
            None => is_unconverted(returns, language),
        }
    }
}

/// The types of a language's literals without a declared type: whole numbers, other numbers, texts,
/// characters and truth values.
fn literal_types(language: &str) -> Option<[Option<&'static str>; 5]> {
    Some(match language {
        "rust" => [Some("i32"), Some("f64"), None, None, None],
        "go" => [Some("int"), Some("float64"), Some("string"), None, Some("bool")],
        "java" => [Some("int"), Some("double"), Some("String"), Some("char"), Some("boolean")],
        "c" => [Some("int"), Some("double"), None, None, None],
        "cpp" => [Some("int"), Some("double"), None, None, Some("bool")],
        _ => return None,
    })
}

fn of_literal(value: &Tree, language: &str) -> Option<&'static str> {
    let text = value.joined_tokens();
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '_');
    let has_point = text.contains('.') && text.ends_with(|c: char| c.is_ascii_digit());
    let [whole, point, string, character, truth] = literal_types(language)?;
    match value {
        _ if value.is_a(Role::Number) && plain => whole,
        _ if value.is_a(Role::Number) && has_point => point,
        _ if value.is_a(Role::PlainText) => string,
        _ if value.is_a(Role::Character) => character,
        _ if value.is_a(Role::TruthValue) => truth,
        _ => None,
    }
}

fn is_inferred(said: &str) -> bool {
    matches!(said, "var" | "auto" | "val" | "let" | "const auto" | "_")
}

/// Returns true if a value may be an untyped constant in Go, which takes its type from its context.
fn is_constant(value: &Tree) -> bool {
    !value.has_node(&|node| node.local().is_some() || node.is_a(Role::Call))
}

fn is_composite(said: &str) -> bool {
    said.starts_with(['*', '[']) || said.starts_with("map ") || said.starts_with("func ")
}

fn is_numeric(said: &str) -> bool {
    const NUMERIC: &[&str] = &[
        "byte", "short", "int", "long", "float", "double", "char", "boolean", "bool", "i8", "i16",
        "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    ];
    NUMERIC.contains(&said)
}

/// Returns true for a type that holds values of several types, such as `Object` or a type
/// parameter. Operations on it may differ from those on the value's own type.
fn is_dynamic(said: &str) -> bool {
    const ANY: [&str; 6] = ["Object", "any", "interface {}", "interface { }", "error", "dynamic"];
    const BOXED: [&str; 9] =
        ["Number", "Integer", "Long", "Short", "Byte", "Character", "Double", "Float", "Boolean"];
    ANY.contains(&said) || BOXED.contains(&said) || said.len() == 1
}

/// The types that Go declares itself, apart from interfaces.
const GO_TYPES: &[&str] = words!(
    "bool byte complex64 complex128 float32 float64 int int8 int16 int32 int64 rune string uint
    uint8 uint16 uint32 uint64 uintptr"
);

/// Returns true for a type that accepts only its own values or those of a subtype, without
/// conversion.
fn is_unconverted(said: &str, language: &str) -> bool {
    match language {
        "java" => said == "boolean" || !(is_numeric(said) || is_dynamic(said)),
        // In Go, any other name may be that of an interface. A `nil` in an interface is no `nil`.
        "go" => is_composite(said) || GO_TYPES.contains(&said),
        // In C and C++, a type name may stand for a number type, and a class may be constructed
        // from any value.
        "c" | "cpp" => said.ends_with('*') && !said.starts_with("void"),
        _ => false,
    }
}

pub(super) fn returned_type(core: &Tree, language: &str) -> Option<String> {
    match language {
        "go" => core.child("result").map(Tree::joined_tokens),
        "c" | "cpp" => {
            let pointer =
                core.child("declarator").is_some_and(|one| one.is_a(Role::PointerDeclarator));
            let said = core.child("type").map(Tree::joined_tokens)?;
            Some(if pointer { said + " *" } else { said })
        }
        _ => core.child("type").or_else(|| core.child("return_type")).map(Tree::joined_tokens),
    }
}
