//! Reads a function in a form that can replace a call of it: its parameters, and a body whose
//! locals cannot clash with other names.

use code::language_tables::framework_names::CALL_FRAME_WORDS;
use code::language_tables::roles::Role;
use code::program::{NameKind, Tree, resolve};

use super::captured_names::{self, OuterNames};
use super::types::{LocalTypes, returned_type};

#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// The placeholder of the receiver, if the language names it (`self` in Python, the receiver in
    /// Go).
    pub receiver: Option<String>,
    pub statements: Vec<Tree>,
    /// The value of the function, if it returns only once, at its end.
    pub result: Option<Tree>,
    pub returns: Option<String>,
    /// Every returned value evidently has the declared return type, or the language never converts
    /// a returned value.
    pub keeps_type: bool,
    /// The function contains a `return` other than the one at its end, or an unknown macro, which
    /// may contain one.
    pub returns_early: bool,
    /// The function ends with a value, a `return` of a value, or a `throw`.
    pub ends: bool,
    /// The function is declared as a method, or its body uses `this`.
    pub method: bool,
    pub constructor: bool,
    /// The names that the body uses but does not declare. In a caller that declares one of these
    /// names, the body would use the caller's declaration.
    pub surroundings: OuterNames,
}

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// The name that replaces the parameter in the body. It contains a control character, so it
    /// cannot occur in source code.
    pub placeholder: String,
    pub declared_type: Option<String>,
}

const LANGUAGES: &[&str] =
    &["rust", "python", "javascript", "typescript", "tsx", "go", "java", "c", "cpp"];

/// Returns true if the function may drop a value at its end, or if a parameter that a Rust function
/// changes may be a copy. Dropping a value may have an effect, such as releasing a lock. If the
/// body replaced a call, that effect would come only at the end of the caller.
fn drops_values(core: &Tree, body: &Tree, language: &str) -> bool {
    if language == "c" {
        // `sizeof` of an array is not that of a parameter, which only points to the array.
        return ["cleanup", "__cleanup__", "sizeof"].iter().any(|word| body.mentions(word));
    }
    if !matches!(language, "rust" | "cpp") {
        return false;
    }
    let declares = |node: &Tree| {
        node.is_any(&[Role::LetDeclaration, Role::Declaration, Role::LocalDeclaration])
    };
    if language == "cpp" {
        // Every declaration may call a constructor.
        return body.has_node(&declares);
    }
    let creates = |value: &Tree| value.has_node(&creates_value);
    // A local that is declared without a value gets one later.
    let keeps_value = |node: &Tree| declares(node) && node.child("value").is_none_or(creates);
    let is_part_of_a_value =
        |node: &Tree| node.is_a(Role::FieldExpression) && node.child("value").is_some_and(creates);
    body.has_node(&|node| keeps_value(node) || is_part_of_a_value(node)) || takes_values(core)
}

/// Returns true if a node of Rust or C++ may create a value whose drop has an effect: a call,
/// `Guard { .. }`, or a name such as `Guard` or `Guard::Locked`. `LIMIT` is no such name.
fn creates_value(node: &Tree) -> bool {
    let is_type_name =
        |name: &str| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    node.is_any(&[Role::AnyCall, Role::StructExpression])
        || node.is_a(Role::Name) && node.text.as_deref().is_some_and(is_type_name)
}

/// Returns true if the result of a Rust function may borrow a temporary value, as in `*lock(n)` and
/// `f(&lock(n))`. The function drops that value before it returns. In place of a call, the result
/// would keep the value until the end of the caller's statement.
fn borrows_temporary(result: &Tree) -> bool {
    const BORROWING_MACROS: &[&str] = &["matches", "write", "writeln", "format_args"];
    if is_block(result) {
        let last = statements(result).pop();
        return last.is_some_and(|last| !last.is_a(Role::NoValue) && borrows_temporary(&last));
    }
    let borrows = result.is_a(Role::PartOrBorrow)
        || result.is_a(Role::Unary) && result.starts_with_token("*");
    let is_macro = result.is_a(Role::MacroInvocation)
        && result.text_of("macro").is_some_and(|name| BORROWING_MACROS.contains(&&**name));
    // The arguments of a macro are tokens. The first parenthesis may be the macro's own.
    let has_inner_call = || result.texts().into_iter().filter(|text| *text == "(").count() > 1;
    borrows && result.has_node(&creates_value)
        || is_macro && has_inner_call()
        || result.children.iter().any(borrows_temporary)
}

/// Returns true if a Rust function takes a value that it may drop, or a copy that it changes. Only
/// references and numbers, `bool` and `char` without `mut` are neither.
fn takes_values(core: &Tree) -> bool {
    let parameters = core.child("parameters").into_iter().flat_map(|list| &list.children);
    let is_borrowed_or_plain = |one: &Tree| match one.child("type").map(Tree::joined_tokens) {
        Some(type_name) => {
            let is_small = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
            let is_plain = type_name.starts_with(['u', 'i', 'f', 'b', 'c']);
            type_name.starts_with('&') || is_plain && type_name.chars().all(is_small)
        }
        None => one.text.is_some() || one.joined_tokens().starts_with('&'),
    };
    let mut parameters = parameters.into_iter();
    parameters.any(|one| !is_borrowed_or_plain(one) || one.joined_tokens().starts_with("mut "))
}

const ASSIGNING: &[&str] = &[
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=", "//=", "??=", "&&=",
    "||=", ":=", "++", "--", ">>>=", "&^=", "@=",
];

const CHANGING: &[&str] = &["++", "--", "&mut", "mut", "del", "as"];

const ASSIGNMENTS: &[Role] = &[
    Role::AssignmentToLeft,
    Role::NameAssignment,
    Role::ShortVarDeclaration,
    Role::Loop,
    Role::MayDeclare,
];

/// Reads a function as a helper. Returns `None` if its calls cannot safely be replaced by its body.
pub(super) fn helper(item: &Tree, name: &str, language: &str) -> Option<Helper> {
    let core = function_of(item)?;
    if !LANGUAGES.contains(&language) || is_special(item, core) {
        return None;
    }
    let mut core = core.clone();
    let names = resolve(&mut core, language);
    if names.reflective {
        return None;
    }
    let (receiver, parameters) = parameters(&core, language)?;
    let mut body = core.child("body")?.clone();
    let is_bound = |node: &Tree| {
        node.is_a(Role::NotMovable)
            || CALL_FRAME_WORDS.iter().any(|word| node.is_token(word))
            || node.children.len() == 3 && node.joined_tokens() == "new . target"
    };
    if body.has_node(&is_bound) || body.mentions(name) || drops_values(&core, &body, language) {
        return None;
    }
    let surroundings = captured_names::names_taken_from_outside(&core, &body, &names)?;
    let is_generic = || language == "rust" && captured_names::takes_type_parameter(&core);
    if !captured_names::is_whole(&body, language) || is_generic() {
        return None;
    }
    let types = LocalTypes::from_tree(&core);
    // Every local gets a name that occurs nowhere else, so that it cannot clash with a name in the
    // caller.
    let placeholder = |local: u32| format!("\u{1}{name}\u{1}{local}");
    body.visit_mut(&mut |leaf| {
        if let Some(local) = leaf.local() {
            leaf.rename(&placeholder(local));
        }
    });
    let mut known = Vec::new();
    let by_value = matches!(language, "go" | "c" | "cpp");
    for local in parameters {
        let placeholder = placeholder(local);
        let copies = by_value && may_copy(&core, &body, local, &placeholder, language);
        if copies || !is_only_read(&body, &placeholder) {
            return None;
        }
        let declared_type = types.of_local(local).map(str::to_owned);
        known.push(Parameter { placeholder, declared_type });
    }
    let copies = |own: u32| may_copy(&core, &body, own, &placeholder(own), language);
    if by_value && receiver.is_some_and(copies) {
        return None;
    }
    let receiver = receiver.map(placeholder);
    if receiver.as_deref().is_some_and(|placeholder| !is_only_read(&body, placeholder)) {
        return None;
    }
    let given: Vec<&str> =
        known.iter().map(|one| &*one.placeholder).chain(receiver.as_deref()).collect();
    if may_outlive_call(&body, &given, language) {
        return None;
    }
    let (statements, result) = parts(&body, language);
    let may_borrow = |result: &Tree| match language {
        "rust" => borrows_temporary(result),
        // In C++, every value inside the result may be a temporary one.
        "cpp" => result.children.iter().any(|part| part.has_node(&creates_value)),
        _ => false,
    };
    if result.as_ref().is_some_and(may_borrow) {
        return None;
    }
    let returned = returned_type(&core, language);
    let keeps = |result: &Tree| types.comes_back(result, returned.as_deref(), language);
    Some(Helper {
        name: name.to_owned(),
        parameters: known,
        receiver,
        ends: result.is_some() || statements.last().is_some_and(is_end),
        keeps_type: result.iter().all(keeps)
            && statements.iter().all(|one| each_returned(one, &keeps)),
        returns: returned,
        returns_early: statements.iter().any(holds_return) || captured_names::may_leave(&body),
        statements,
        result,
        method: core.is_a(Role::Method) || body.has_node(&|node| is_this(node)),
        constructor: core.is_a(Role::ConstructorDeclaration),
        surroundings,
    })
}

/// Returns true if a local may be used after the call. In place of the call, a Python local or a
/// JavaScript `var` would keep its value in the caller's next round of a loop, and in C and Go the
/// address of a local would stay valid. Every local has its placeholder as its text.
fn may_outlive_call(body: &Tree, parameters: &[&str], language: &str) -> bool {
    let is_parameter =
        |leaf: &Tree| leaf.text.as_deref().is_some_and(|text| parameters.contains(&text));
    match language {
        "python" => body.has_node(&|leaf| leaf.local().is_some() && !is_parameter(leaf)),
        "javascript" | "typescript" | "tsx" => body.mentions("var"),
        // An array is passed by its address.
        "c" | "cpp" => {
            body.mentions("&") || body.has_node(&|node| node.is_a(Role::ArrayDeclarator))
        }
        "go" => body.mentions("&"),
        _ => false,
    }
}

pub(super) fn is_this(node: &Tree) -> bool {
    node.is_a(Role::This) || node.is_token("this") || node.is_token("arguments")
}

/// Returns the function in an item: the item itself, or the function inside `export`, attributes or
/// `const f =`.
pub(super) fn function_of(item: &Tree) -> Option<&Tree> {
    if item.is_a(Role::Routine) {
        return Some(item);
    }
    let inner = match item {
        _ if item.is_a(Role::WithAttributes) => item.children.last(),
        _ if item.is_a(Role::Export) => item.child("declaration"),
        _ if item.is_a(Role::LexicalDeclaration) => {
            let all = item.children.iter().filter(|child| child.is_a(Role::VariableDeclarator));
            only_item(all)?.child("value")
        }
        _ => None,
    };
    function_of(inner?)
}

/// Replaces a node by another one, which gets the field of the replaced node.
pub(super) fn replace_node(place: &mut Tree, node: Tree) {
    let field = place.field;
    *place = node;
    place.field = field;
}

pub(super) fn only_item<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns true if the function is more than a body with parameters, for example async, a
/// generator, a getter, annotated, unsafe or external.
fn is_special(item: &Tree, core: &Tree) -> bool {
    const SPECIAL: &[&str] = &[
        "async",
        "unsafe",
        "extern",
        "*",
        "get",
        "set",
        "native",
        "synchronized",
        "inline",
        "__attribute__",
    ];
    let body = core.child("body").map_or(usize::MAX, |body| body.bytes.start);
    let word = |node: &Tree| {
        node.bytes.start < body
            && node.field != Some("name")
            && (node.text.as_deref().is_some_and(|text| SPECIAL.contains(&text))
                || node.is_a(Role::Annotation))
    };
    let pointer_star = |node: &Tree| node.is_token("*") && !core.is_a(Role::MethodDefinition);
    item.has_node(&|node| word(node) && !pointer_star(node))
}

/// Returns the locals that are the receiver and the parameters. Returns `None` if a parameter is
/// not a plain name.
fn parameters(core: &Tree, language: &str) -> Option<(Option<u32>, Vec<u32>)> {
    let list = match language {
        "c" | "cpp" => core.child("declarator").and_then(declared_parameters)?,
        _ => match core.child("parameters").or_else(|| core.child("parameter")) {
            Some(lone) if lone.text.is_some() => return Some((None, vec![lone.local()?])),
            Some(list) => list,
            None => return Some((None, Vec::new())),
        },
    };
    let mut found = Vec::new();
    for child in list.children.iter().filter(|child| !punctuation(child)) {
        match child {
            _ if child.is_a(Role::SelfParameter) => {}
            _ if child.is_a(Role::Identifier) => found.push(child.local()?),
            _ if child.is_a(Role::ParameterDeclaration) && matches!(language, "c" | "cpp") => {
                match child.child("declarator") {
                    Some(declarator) => found.push(innermost(declarator)?),
                    None if child.joined_tokens() == "void" => {}
                    None => return None,
                }
            }
            _ if child.is_a(Role::PatternParameter) && child.child("value").is_none() => {
                found.push(child.child("pattern")?.local()?);
            }
            _ if child.is_a(Role::NamedParameter) => {
                child.child("name")?;
                for name in child.children.iter().filter(|one| one.field == Some("name")) {
                    found.push(name.local()?);
                }
            }
            _ if child.is_a(Role::TypedParameter) => {
                found.push(child.children.first()?.local()?);
            }
            _ => return None,
        }
    }
    let receiver = match core.child("receiver") {
        Some(list) => Some(list.children.iter().find_map(|child| child.child("name"))?.local()?),
        None if language == "python" && !found.is_empty() && first_is_self(list) => {
            Some(found.remove(0))
        }
        None => None,
    };
    Some((receiver, found))
}

/// Returns how many parameters a function has. Returns `None` if the item is no function or a
/// parameter is not a plain name.
pub(super) fn parameter_count(item: &Tree, language: &str) -> Option<usize> {
    let mut core = function_of(item)?.clone();
    resolve(&mut core, language);
    parameters(&core, language).map(|(_, parameters)| parameters.len())
}

fn first_is_self(list: &Tree) -> bool {
    list.children.iter().find(|child| !punctuation(child)).is_some_and(|one| one.is_token("self"))
}

fn punctuation(node: &Tree) -> bool {
    matches!(node.text.as_deref(), Some("(" | ")" | "," | "|"))
}

fn declared_parameters(declarator: &Tree) -> Option<&Tree> {
    match declarator {
        _ if declarator.is_a(Role::FunctionDeclarator) => declarator.child("parameters"),
        _ if declarator.is_a(Role::PointerDeclarator) => {
            declared_parameters(declarator.child("declarator")?)
        }
        _ => None,
    }
}

fn innermost(declarator: &Tree) -> Option<u32> {
    match declarator.text {
        None if !declarator.is_a(Role::PointerDeclarator) => None,
        None => innermost(declarator.child("declarator")?),
        Some(_) => declarator.local(),
    }
}

/// Returns false if the body assigns to a parameter or borrows it mutably, or if an inner function
/// captures it.
fn is_only_read(body: &Tree, placeholder: &str) -> bool {
    let tokens = body.texts();
    let is_changed = (0..tokens.len()).any(|at| {
        let is_before = at.checked_sub(1).is_some_and(|last| CHANGING.contains(&tokens[last]));
        let is_after = tokens.get(at + 1).is_some_and(|next| ASSIGNING.contains(next));
        tokens[at] == placeholder && (is_before || is_after)
    });
    let is_assigned = body.has_node(&|node| {
        node.is_any(ASSIGNMENTS) && node.child("left").is_some_and(|left| binds(left, placeholder))
    });
    let is_captured = body.has_node(&|node| {
        node.is_any(&[Role::Routine, Role::Closure, Role::GeneratorExpression])
            && node.mentions(placeholder)
    });
    !is_changed && !is_assigned && !is_captured
}

/// Returns true if the left side of an assignment gives a new value to a name, as `a, b = f()` does
/// for `a`. `a.x = f()` does not: it only changes a part of the value.
fn binds(left: &Tree, name: &str) -> bool {
    const OBJECT_FIELDS: [&str; 5] = ["object", "operand", "argument", "array", "subscript"];
    let is_part = left.is_any(&[Role::PartOrBorrow, Role::Unary])
        || OBJECT_FIELDS.iter().any(|field| left.child(field).is_some());
    left.is_token(name) || !is_part && left.children.iter().any(|child| binds(child, name))
}

/// Returns true if the body may change a parameter that may be a copy. The caller does not see a
/// change of a copy, but would see it if the body replaced the call.
fn may_copy(core: &Tree, body: &Tree, local: u32, placeholder: &str, language: &str) -> bool {
    let declares = |node: &Tree| {
        node.is_a(Role::Parameter) && node.has_node(&|leaf| leaf.name == NameKind::Local(local))
    };
    let shared = |node: &Tree| node.has_node(&|part| part.is_a(Role::SharedType));
    let is_string = |node: &Tree| node.has_token_as("type", "string");
    let is_declared_as = |test: &dyn Fn(&Tree) -> bool| {
        let mut header = core.children.iter().filter(|child| child.field != Some("body"));
        header.any(|part| part.has_node(&|node| declares(node) && test(node)))
    };
    if is_declared_as(&shared) {
        return false;
    }
    let is_text = is_declared_as(&is_string);
    // In C++, a function may take a reference to its argument. In C, only a macro can change one;
    // it is known by its name in capitals. In both, a field may be an array, passed by its address.
    let may_change = |call: &Tree| match language {
        "cpp" => true,
        "c" => call.text_of("function").is_some_and(|name| !name.contains(char::is_lowercase)),
        _ => false,
    };
    let is_passed = |call: &Tree| {
        let arguments = call.child("arguments").into_iter().flat_map(|list| &list.children);
        arguments.into_iter().any(|one| match one.is_a(Role::FieldExpression) {
            true => one.mentions(placeholder),
            false => one.is_token(placeholder) && may_change(call),
        })
    };
    body.has_node(&|node| {
        if node.is_a(Role::CallExpression) && is_passed(node) {
            return true;
        }
        let target = match node {
            _ if node.is_any(&[Role::AssignmentToLeft, Role::MayDeclare]) => node.child("left"),
            _ if node.is_a(Role::Update) => Some(node),
            // `std::cin >> n`
            _ if language == "cpp"
                && node.children.get(1).is_some_and(|mark| mark.is_token(">>")) =>
            {
                node.child("right")
            }
            _ if node.is_a(Role::Reference) => node.starts_with_token("&").then_some(node),
            // A slice of a Go array shares its elements. A text never changes.
            _ if node.is_a(Role::SliceExpression) && !is_text => node.child("operand"),
            // A method may change the object that it is called on.
            _ if node.is_a(Role::CallExpression) => {
                node.child("function").filter(|called| called.text.is_none())
            }
            _ => None,
        };
        target.is_some_and(|target| target.mentions(placeholder))
    })
}

/// Divides a body into the statements before its result, and the result. A `return` without a value
/// at the end belongs to neither.
fn parts(body: &Tree, language: &str) -> (Vec<Tree>, Option<Tree>) {
    if !is_block(body) {
        return (Vec::new(), Some(body.clone()));
    }
    let mut statements = statements(body);
    let result = match statements.last() {
        Some(last) if returned(last).is_some() => {
            statements.pop().and_then(|last| returned(&last).cloned())
        }
        Some(last) if language == "rust" && !last.is_a(Role::NoValue) => statements.pop(),
        _ => None,
    };
    if statements.last().is_some_and(|last| is_return(last) && last.tokens().len() == 1) {
        statements.pop();
    }
    (statements, result)
}

pub(super) fn is_block(node: &Tree) -> bool {
    node.is_a(Role::Block)
}

pub(super) fn statements(block: &Tree) -> Vec<Tree> {
    let mut found = Vec::new();
    for child in &block.children {
        match child {
            _ if child.is_a(Role::StatementList) => found.extend(statements(child)),
            _ if child.is_token("{") || child.is_token("}") || child.is_token(";") => {}
            _ => found.push(child.clone()),
        }
    }
    found
}

pub(super) fn is_return(node: &Tree) -> bool {
    expression_of(node).is_some_and(|one| one.is_a(Role::Return))
}

/// Returns the expression that a statement consists of. A node that is no such statement is
/// returned itself.
pub(super) fn expression_of(node: &Tree) -> Option<&Tree> {
    match node.is_a(Role::ExpressionStatement) {
        true => node.children.first(),
        false => Some(node),
    }
}

pub(super) fn returned(node: &Tree) -> Option<&Tree> {
    if !is_return(node) {
        return None;
    }
    let mut parts = expression_of(node)?.children.iter();
    let value = parts.find(|child| !child.is_token("return") && !child.is_token(";"))?;
    match &value.children[..] {
        [only] if value.is_a(Role::ExpressionList) => Some(only),
        _ => Some(value),
    }
}

fn is_end(node: &Tree) -> bool {
    is_return(node) || node.is_a(Role::Throw)
}

fn each_returned(tree: &Tree, test: &impl Fn(&Tree) -> bool) -> bool {
    if is_return(tree) {
        return returned(tree).is_none_or(test);
    }
    tree.is_a(Role::Function) || tree.children.iter().all(|one| each_returned(one, test))
}

fn holds_return(tree: &Tree) -> bool {
    let is_function = tree.is_a(Role::Routine) || tree.is_a(Role::Enclosing);
    is_return(tree) || !is_function && tree.children.iter().any(holds_return)
}
