//! Replaces calls of a function by its body.
//!
//! This undoes the extraction of a function: with the helper's body in place of each call, the new
//! text must do what the old text did. If the equality is doubtful (an argument would be evaluated
//! at another time, or a `return` would leave another function), the call is kept, and then the two
//! texts differ.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use code::language_tables::roles::Role;
use code::program::{NameKind, Tree, resolve};

use super::call_targets::CallForms;
use super::captured_names::DeclaredNames;
use super::helpers::{
    self, Helper, is_block, is_this, only_item, replace_node, returned, statements,
};
use super::pairs::Id;
use super::same::{Renames, Resolved, compare_trees};
use super::types::{LocalTypes, returned_type};

/// A helper that a unit can call, and the ways in which it can.
pub(super) struct ReachableHelper<'h> {
    pub id: Id,
    pub helper: &'h Helper,
    pub ways: CallForms,
}

/// A tree in which calls of helpers were replaced, and the helpers that were used.
pub(super) struct Inlined {
    pub tree: Tree,
    pub used: Vec<Id>,
}

/// The maximum depth to which helpers that call helpers are replaced.
const ROUNDS: usize = 6;
/// A tree with more tokens than this is not changed further.
const LARGEST: usize = 20_000;

pub(super) fn inlined(tree: &Tree, language: &str, helpers: &[ReachableHelper<'_>]) -> Inlined {
    let mut tree = tree.clone();
    let mut used: Vec<Id> = Vec::new();
    let called = |tree: &Tree| -> Vec<&ReachableHelper<'_>> {
        let words: HashSet<&str> = tree.texts().into_iter().collect();
        let delegates = tree.has_node(&|node| node.is_a(Role::ExplicitConstructorInvocation));
        let fits =
            |helper: &Helper| words.contains(&*helper.name) || (helper.constructor && delegates);
        helpers.iter().filter(|one| fits(one.helper)).collect()
    };
    for _ in 0..ROUNDS {
        let wanted = called(&tree);
        if wanted.is_empty() || tree.tokens().len() > LARGEST {
            break;
        }
        let names = resolve(&mut tree, language);
        let given = DeclaredNames::from_tree(&tree, &names);
        let wanted =
            wanted.into_iter().filter(|one| !given.any_of(&one.helper.surroundings)).collect();
        let mut inliner = Inliner {
            language,
            helpers: wanted,
            used: Vec::new(),
            types: LocalTypes::from_tree(&tree),
            returns: helpers::function_of(&tree).and_then(|core| returned_type(core, language)),
            shared: shared_locals(&tree),
            entered: false,
            entered_body: false,
        };
        inliner.node(&mut tree, None);
        if inliner.used.is_empty() {
            break;
        }
        for id in inliner.used {
            if !used.contains(&id) {
                used.push(id);
            }
        }
    }
    Inlined { tree, used }
}

struct Inliner<'h> {
    language: &'h str,
    helpers: Vec<&'h ReachableHelper<'h>>,
    used: Vec<Id>,
    types: LocalTypes,
    /// The declared return type of the caller.
    returns: Option<String>,
    /// The caller's locals that other functions may change.
    shared: HashSet<u32>,
    /// True once the walk has entered the caller's own function node.
    entered: bool,
    /// True once the walk has entered the body of that function.
    entered_body: bool,
}

/// A call of a helper, with the argument for each placeholder.
struct HelperCall<'h> {
    id: Id,
    helper: &'h Helper,
    arguments: HashMap<String, Tree>,
}

impl<'h> Inliner<'h> {
    /// Replaces calls below a node. `wanted` is the type that the value of the node is converted
    /// to, if it is declared.
    fn node(&mut self, tree: &mut Tree, wanted: Option<&str>) {
        // Calls inside a nested function are kept, because there `this` is another object and the
        // code runs at another time.
        if tree.is_a(Role::Function) && std::mem::replace(&mut self.entered, true) {
            return;
        }
        if is_block(tree) {
            // The first block inside the function is its body. Other blocks, such as the body of a
            // loop, come later.
            let is_body = self.entered && !self.entered_body;
            self.entered_body |= is_body;
            self.block(tree, is_body);
        }
        let said = match tree {
            _ if tree.is_a(Role::Return) => self.returns.clone(),
            _ if tree.is_a(Role::TypedDeclaration) => tree.child("type").map(Tree::joined_tokens),
            _ if tree.is_a(Role::Declarator) => wanted.map(str::to_owned),
            _ => None,
        };
        for child in &mut tree.children {
            let passed = matches!(child.field, None | Some("value" | "declarator"));
            self.node(child, said.as_deref().filter(|_| passed));
        }
        if let Some(value) = self.expression(tree, wanted) {
            replace_node(tree, value);
        }
    }

    /// Replaces a call of a helper whose body is a single value.
    fn expression(&mut self, tree: &Tree, wanted: Option<&str>) -> Option<Tree> {
        let call = self.call(tree)?;
        let helper = call.helper;
        let plain = helper.statements.is_empty() && !helper.returns_early;
        let result = helper.result.as_ref().filter(|_| plain && keeps_type(helper, wanted))?;
        self.used.push(call.id);
        Some(self.fill(&call, result))
    }

    /// Replaces calls that are statements, or the value of a statement.
    fn block(&mut self, block: &mut Tree, is_body: bool) {
        let children = std::mem::take(&mut block.children);
        let last = children.iter().rposition(|child| !child.is_token("}") && !child.is_token(";"));
        let mut kept: Vec<Tree> = Vec::with_capacity(children.len());
        for (at, child) in children.into_iter().enumerate() {
            // An attribute applies to exactly one statement, so the statement after it must stay
            // one statement.
            if kept.last().is_some_and(|last| last.is_a(Role::AttributeItem)) {
                kept.push(child);
                continue;
            }
            if child.is_a(Role::StatementList) {
                let mut list = child;
                self.block(&mut list, is_body);
                kept.push(list);
                continue;
            }
            match self.statement(&child, is_body && last == Some(at)) {
                Some(mut statements) => kept.append(&mut statements),
                None => kept.push(child),
            }
        }
        block.children = kept;
    }

    fn statement(&mut self, statement: &Tree, last: bool) -> Option<Vec<Tree>> {
        // A call of a helper as a statement: `h(a);`.
        if let Some(call) = called(statement).and_then(|call| self.call(call)) {
            let helper = call.helper;
            let unit = statement.is_a(Role::UnitCall);
            if unit && !helper.returns_early && helper.result.is_none() {
                self.used.push(call.id);
                return Some(self.fill_all(&call, &helper.statements));
            }
            // A Rust value at the end of a block.
            if statement.is_a(Role::CallExpression) && !helper.returns_early {
                self.used.push(call.id);
                let mut all = self.fill_all(&call, &helper.statements);
                all.extend(helper.result.as_ref().map(|result| self.fill(&call, result)));
                return Some(all);
            }
        }
        // A statement that returns the result of a helper: `return h(a);`.
        if let Some(call) = returned(statement).and_then(|value| self.call(value)) {
            let helper = call.helper;
            if (helper.ends || last) && keeps_type(helper, self.returns.as_deref()) {
                self.used.push(call.id);
                let mut all = self.fill_all(&call, &helper.statements);
                if let Some(result) = &helper.result {
                    let value = self.fill(&call, result);
                    all.push(with_value(statement, value));
                }
                return Some(all);
            }
        }
        self.first_value(statement)
    }

    /// Replaces a call that is the first thing a statement evaluates: `x = h(a)`, `if (h(a))`,
    /// `return !h(a)`.
    fn first_value(&mut self, statement: &Tree) -> Option<Vec<Tree>> {
        let mut path = Vec::new();
        if !statement.is_a(Role::FirstValue) || !self.find_call(statement, &mut path) {
            return None;
        }
        let node = path.iter().fold(statement, |node, at| &node.children[*at]);
        let call = self.call(node)?;
        let helper = call.helper;
        let result = helper.result.as_ref()?;
        let wanted =
            declared_by(statement, node).and(statement.child("type")).map(Tree::joined_tokens);
        if helper.returns_early
            || helper.statements.is_empty()
            || !keeps_type(helper, wanted.as_deref())
        {
            return None;
        }
        let mut all = self.fill_all(&call, &helper.statements);
        if !is_evaluated_first(statement, &path, &all, &self.shared) {
            return None;
        }
        self.used.push(call.id);
        let value = self.fill(&call, result);
        // If the helper ends in `let x = …; x` and the statement is `let y = h()`, one local is
        // enough, so `x` gets the name `y`.
        if let Some(target) = declared_by(statement, node)
            && let Some(text) = value.text.clone().filter(|text| text.starts_with('\u{1}'))
            && declares(&all, &text)
        {
            let respell = &mut |leaf: &mut Tree| {
                if leaf.is_token(&text) {
                    leaf.text = Some(target.clone());
                }
            };
            all.iter_mut().for_each(|one| one.visit_mut(respell));
            return Some(all);
        }
        let mut statement = statement.clone();
        let place = path.iter().fold(&mut statement, |node, at| &mut node.children[*at]);
        replace_node(place, value);
        all.push(statement);
        Some(all)
    }

    fn find_call(&self, tree: &Tree, path: &mut Vec<usize>) -> bool {
        tree.children.iter().enumerate().any(|(at, child)| {
            path.push(at);
            let found = self.call(child).is_some() || self.find_call(child, path);
            if !found {
                path.pop();
            }
            found
        })
    }

    fn fill_all(&self, call: &HelperCall<'_>, statements: &[Tree]) -> Vec<Tree> {
        statements.iter().map(|one| self.fill(call, one)).collect()
    }

    /// Returns the tree with the placeholders replaced by the arguments.
    fn fill(&self, call: &HelperCall<'_>, tree: &Tree) -> Tree {
        let mut tree = tree.clone();
        substitute(&mut tree, &call.arguments);
        tree
    }

    fn call(&self, node: &Tree) -> Option<HelperCall<'h>> {
        let (name, receiver, arguments) = callee(node)?;
        self.helpers.iter().find_map(|ReachableHelper { id, helper, ways }| {
            let delegates = node.is_a(Role::ExplicitConstructorInvocation);
            let named = helper.constructor == delegates && (delegates || helper.name == name);
            if !named || !can_mean(ways, node, receiver) {
                return None;
            }
            let arguments: Vec<&Tree> =
                arguments.children.iter().filter(|one| !separator(one)).collect();
            let is_plain = |one: &&Tree| !one.is_a(Role::SpecialArgument);
            if arguments.len() != helper.parameters.len() || !arguments.iter().all(is_plain) {
                return None;
            }
            let mut known = HashMap::new();
            match (&helper.receiver, receiver) {
                (Some(placeholder), Some(receiver)) if is_stable(receiver, &self.shared) => {
                    known.insert(placeholder.clone(), receiver.clone());
                }
                (Some(_), _) => return None,
                (None, Some(receiver)) if !is_own(receiver) => return None,
                (None, None) if helper.method && !matches!(self.language, "java" | "cpp") => {
                    return None;
                }
                _ => {}
            }
            for (at, argument) in arguments.iter().enumerate() {
                let parameter = &helper.parameters[at];
                let typed =
                    self.types.passes(argument, parameter.declared_type.as_deref(), self.language);
                let may_replace = is_stable(argument, &self.shared)
                    || once_and_first(helper, at, &arguments, &self.shared);
                if !typed || !may_replace {
                    return None;
                }
                known.insert(parameter.placeholder.clone(), (*argument).clone());
            }
            Some(HelperCall { id: *id, helper, arguments: known })
        })
    }
}

/// Returns true if a call with this receiver can mean a helper that is callable in these ways.
fn can_mean(ways: &CallForms, call: &Tree, receiver: Option<&Tree>) -> bool {
    let through_type = call.child("function").is_some_and(|one| one.is_a(Role::ScopedIdentifier));
    match receiver {
        None if through_type => ways.own,
        None => ways.bare,
        Some(receiver) if is_own(receiver) || receiver.is_token("self") => ways.own,
        Some(receiver) => {
            ways.any || ways.owner.as_deref().is_some_and(|owner| receiver.is_token(owner))
        }
    }
}

/// Returns true if the helper's result has the type that the caller needs.
fn keeps_type(helper: &Helper, wanted: Option<&str>) -> bool {
    helper.keeps_type || (wanted.is_some() && helper.returns.as_deref() == wanted)
}

fn separator(node: &Tree) -> bool {
    matches!(node.text.as_deref(), Some("(" | ")" | ","))
}

/// Returns the name, the receiver and the arguments of a call.
fn callee(node: &Tree) -> Option<(String, Option<&Tree>, &Tree)> {
    let arguments = node.child("arguments")?;
    if node.is_a(Role::ExplicitConstructorInvocation) {
        let this = node.child("constructor").is_some_and(|one| one.is_token("this"));
        return this.then_some((String::new(), None, arguments));
    }
    let function = match node {
        _ if node.is_a(Role::MethodInvocation) => node,
        _ if node.is_a(Role::Call) => node.child("function")?,
        _ => return None,
    };
    if function.is_a(Role::Identifier) && !matches!(function.name, NameKind::Local(_)) {
        return Some((function.text.as_deref()?.to_owned(), None, arguments));
    }
    let known = MEMBER_FIELDS.iter().find(|(role, ..)| function.is_a(*role));
    let (_, name, objects) = known.filter(|(role, ..)| {
        *role != Role::ScopedIdentifier
            || function.child("path").is_some_and(|it| it.is_token("Self"))
    })?;
    let object = objects.iter().find_map(|field| function.child(field));
    Some((function.text_of(name)?.to_string(), object, arguments))
}

/// The nodes that name a member: the field of its name, and the fields of the object.
const MEMBER_FIELDS: &[(Role, &str, &[&str])] = &[
    (Role::MethodInvocation, "name", &["object"]),
    (Role::MemberExpression, "property", &["object"]),
    (Role::AttributeAccess, "attribute", &["object"]),
    (Role::FieldExpression, "field", &["value", "argument"]),
    (Role::Selector, "field", &["operand"]),
    (Role::ScopedIdentifier, "name", &[]),
];

/// Returns the call that makes up the whole statement.
fn called(statement: &Tree) -> Option<&Tree> {
    match statement {
        _ if statement.is_a(Role::ExpressionStatement) => {
            only_item(statement.children.iter().filter(|child| !child.is_token(";")))
        }
        _ if statement.is_any(&[Role::Call, Role::ExplicitConstructorInvocation]) => {
            Some(statement)
        }
        _ => None,
    }
}

fn is_own(receiver: &Tree) -> bool {
    is_this(receiver) && receiver.text.is_some()
}

/// Returns the locals of a function that other functions may change: those that an inner function
/// assigns, and those whose address is taken.
fn shared_locals(tree: &Tree) -> HashSet<u32> {
    let mut shared = HashSet::new();
    let body = helpers::function_of(tree).and_then(|core| core.child("body"));
    body.into_iter().for_each(|body| add_shared_locals(body, false, &mut shared));
    shared
}

fn add_shared_locals(tree: &Tree, is_inner: bool, shared: &mut HashSet<u32>) {
    let is_inner = is_inner || tree.is_any(&[Role::Function, Role::Closure]);
    let is_address =
        tree.is_a(Role::Reference) && tree.children.first().is_some_and(|mark| mark.is_token("&"));
    let target = match tree {
        _ if is_address || is_inner && tree.is_a(Role::Update) => Some(tree),
        _ if is_inner && tree.is_any(&[Role::Effect, Role::Loop]) => tree.child("left"),
        _ => None,
    };
    if let Some(target) = target {
        target.visit(&mut |leaf| {
            if let NameKind::Local(local) = leaf.name {
                shared.insert(local);
            }
        });
    }
    tree.children.iter().for_each(|child| add_shared_locals(child, is_inner, shared));
}

/// Returns true if the node is one of these locals.
fn is_one_of(tree: &Tree, locals: &HashSet<u32>) -> bool {
    matches!(tree.name, NameKind::Local(local) if locals.contains(&local))
}

/// Returns true if a value is the same whenever it is read: a literal, a local that is not shared,
/// or the object itself.
fn is_stable(tree: &Tree, shared: &HashSet<u32>) -> bool {
    let literal = tree.is_any(&[Role::Literal, Role::PlainValue]);
    let composite = [Role::CompositeLiteral, Role::FuncLiteral];
    let calls = |node: &Tree| node.is_a(Role::InterpolatedValue) || node.name != NameKind::Not;
    let is_name = matches!(tree.name, NameKind::Local(_)) || is_own(tree);
    (literal && !tree.is_any(&composite) && !tree.has_node(&calls))
        || (tree.text.is_some() && is_name && !is_one_of(tree, shared))
}

fn has_effect(tree: &Tree) -> bool {
    tree.has_node(&|node| node.is_a(Role::Effect))
}

/// Returns the names of the variables and members to which these trees assign. The caller's locals
/// are left out, because a helper cannot assign to them.
fn assigned_names(trees: &[Tree]) -> HashSet<&str> {
    let mut names: HashSet<&str> = HashSet::new();
    for tree in trees {
        tree.visit(&mut |node| {
            let target = match node {
                _ if node.is_a(Role::Update) => Some(node),
                _ if node.is_any(&[Role::Effect, Role::Loop]) => node.child("left"),
                _ => None,
            };
            let Some(target) = target else { return };
            target.visit(&mut |leaf| {
                if matches!(leaf.name, NameKind::Free | NameKind::Member) {
                    names.extend(leaf.text.as_deref());
                }
            });
        });
    }
    names
}

/// Returns true if a parameter is read exactly once, unconditionally, and before anything whose
/// evaluation order matters.
fn once_and_first(helper: &Helper, at: usize, arguments: &[&Tree], shared: &HashSet<u32>) -> bool {
    if helper.parameters[at].uses != 1 {
        return false;
    }
    let first = helper.statements.first().or(helper.result.as_ref());
    let Some(first) = first else { return false };
    let mut path = Vec::new();
    if !find(first, &helper.parameters[at].placeholder, &mut path) {
        return false;
    }
    // If a later argument is read earlier in the body, the two arguments would be evaluated in
    // another order.
    let is_swapped = |earlier: &Tree| {
        let later = helper.parameters[at + 1..].iter().zip(&arguments[at + 1..]);
        later
            .filter(|(_, argument)| !is_stable(argument, shared))
            .any(|(parameter, _)| earlier.has_node(&|leaf| leaf.is_token(&parameter.placeholder)))
    };
    let argument = std::slice::from_ref(arguments[at]);
    // The body has no local of the caller.
    is_evaluated_first(first, &path, argument, &HashSet::new())
        && !on_the_way(first, &path)
            .any(|(parent, step)| parent.children[..step].iter().any(is_swapped))
}

/// Returns the nodes on the path from the root, each with the index of the child where the path
/// goes on.
fn on_the_way<'t>(root: &'t Tree, path: &[usize]) -> impl Iterator<Item = (&'t Tree, usize)> {
    path.iter().scan(root, |node, &step| {
        let parent = std::mem::replace(node, &node.children[step]);
        Some((parent, step))
    })
}

/// Returns true if the node at the end of the path is evaluated exactly once whenever the root is,
/// and could as well be evaluated before the root. `evaluated` is what its evaluation consists of:
/// in `n + h()` the call cannot come first if `h` changes `n`. `shared` are the locals that such an
/// effect may change.
fn is_evaluated_first(
    root: &Tree,
    path: &[usize],
    evaluated: &[Tree],
    shared: &HashSet<u32>,
) -> bool {
    let effectful = evaluated.iter().any(has_effect);
    let assigned = assigned_names(evaluated);
    // In `m(h())` and `a.b[0] = h()`, `m` and `a.b` may be read before `h` assigns to them. Of the
    // target in `m = h()`, nothing is read.
    let is_assigned = |part: &Tree| {
        let is_variable = part.field == Some("left") && part.text.is_some();
        !is_variable
            && part
                .has_node(&|leaf| leaf.text.as_deref().is_some_and(|text| assigned.contains(text)))
    };
    let reads = |part: &Tree| {
        part.has_node(&|leaf| {
            let is_parameter = leaf.text.as_deref().is_some_and(|text| text.starts_with('\u{1}'));
            matches!(leaf.name, NameKind::Free | NameKind::Member) && !is_parameter
                || is_one_of(leaf, shared)
        })
    };
    on_the_way(root, path).all(|(parent, step)| {
        let mut earlier = parent.children[..step].iter();
        is_evaluated_once(parent, step)
            && earlier.all(|part| {
                let is_never_read = is_only_named(parent, part) && !is_assigned(part);
                !has_effect(part) && (!effectful || is_never_read || !reads(part))
            })
    })
}

/// Returns true if a child is evaluated exactly once whenever its parent is.
fn is_evaluated_once(parent: &Tree, step: usize) -> bool {
    /// The fields of conditionals that are evaluated in any case.
    const ALWAYS: &[&str] = &["condition", "initializer", "subject", "value"];
    /// Operators whose operand is named and not evaluated.
    const NAMING: &[&str] = &["delete", "sizeof", "typeof"];
    let first = parent.children.first().and_then(|first| first.text.as_deref());
    if parent.is_any(&[Role::Loop, Role::Comprehension, Role::Deferred, Role::Assertion])
        || first.is_some_and(|first| NAMING.contains(&first))
    {
        return false;
    }
    let has =
        |words: &[&str]| parent.children.iter().any(|one| words.iter().any(|it| one.is_token(it)));
    // In Python's `a if b else c` the condition comes second.
    if parent.children.get(1).is_some_and(|one| one.is_token("if")) {
        return step == 2;
    }
    let is_short_circuit = has(&["&&", "||", "and", "or", "??", "&&=", "||=", "??="]);
    // Python's `a < b < c` only evaluates `c` if `a < b`.
    let operators = parent.children.iter().filter(|one| one.field == Some("operators"));
    let is_chain = operators.count() > 1;
    // In JavaScript's `a?.b(c)`, `c` is only evaluated if `a` has a value.
    let is_optional =
        parent.children[..step].iter().any(|one| one.has_node(&|leaf| leaf.is_token("?.")));
    let is_conditional =
        parent.is_a(Role::Conditional) || is_short_circuit || is_chain || is_optional;
    let field = parent.children[step].field;
    !is_conditional || step == 0 || field.is_some_and(|field| ALWAYS.contains(&field))
}

/// Returns true if a part of a node names a function, a type, or the place that gets a value, so
/// that no value is read there.
fn is_only_named(parent: &Tree, part: &Tree) -> bool {
    match part.field {
        Some("function" | "name" | "constructor" | "type" | "pattern" | "declarator") => true,
        Some("left") => parent.children.iter().any(|one| one.is_token("=") || one.is_token(":=")),
        _ => false,
    }
}

fn find(tree: &Tree, text: &str, path: &mut Vec<usize>) -> bool {
    if tree.is_token(text) {
        return true;
    }
    for (at, child) in tree.children.iter().enumerate() {
        path.push(at);
        if find(child, text, path) {
            return true;
        }
        path.pop();
    }
    false
}

fn substitute(tree: &mut Tree, arguments: &HashMap<String, Tree>) {
    if let Some(argument) = tree.text.as_deref().and_then(|text| arguments.get(text)) {
        replace_node(tree, argument.clone());
        return;
    }
    tree.children.iter_mut().for_each(|child| substitute(child, arguments));
}

fn declares(statements: &[Tree], name: &str) -> bool {
    let declares =
        |one: &Tree| one.is_a(Role::Declaring) && one.has_node(&|leaf| leaf.is_token(name));
    statements.iter().any(declares)
}

/// Returns the local that a declaration initialises with the value of `node`.
fn declared_by(statement: &Tree, node: &Tree) -> Option<Arc<str>> {
    let holder = match statement {
        _ if statement.is_a(Role::LetDeclaration) => statement,
        _ if statement.is_a(Role::LocalDeclaration) => {
            let is_declarator = |child: &&Tree| child.is_a(Role::VariableDeclarator);
            only_item(statement.children.iter().filter(is_declarator))?
        }
        _ if statement.is_a(Role::Declaration) => {
            statement.children.iter().find(|child| child.is_a(Role::InitDeclarator))?
        }
        _ if statement.is_a(Role::ShortVarDeclaration) => {
            let (left, right) = (statement.child("left")?, statement.child("right")?);
            let whole = right.bytes == node.bytes;
            let name = match left.text {
                Some(_) => left,
                None if left.children.len() == 1 => &left.children[0],
                None => return None,
            };
            return name.text.clone().filter(|_| whole);
        }
        // In Python, the first assignment declares a name.
        _ if statement.is_a(Role::ExpressionStatement) => {
            let assignment =
                statement.children.first().filter(|one| one.is_a(Role::NameAssignment))?;
            let value = assignment.child("right")?;
            let left = assignment.child("left")?;
            return left
                .text
                .clone()
                .filter(|_| std::ptr::eq(value, node) && matches!(left.name, NameKind::Local(_)));
        }
        _ => return None,
    };
    let value = holder.child("value")?;
    let name = holder
        .child("pattern")
        .or_else(|| holder.child("name"))
        .or_else(|| holder.child("declarator"))?;
    name.text.clone().filter(|_| std::ptr::eq(value, node))
}

fn with_value(statement: &Tree, value: Tree) -> Tree {
    let mut statement = statement.clone();
    let core = match statement {
        _ if statement.is_a(Role::ExpressionStatement) => statement.children.first_mut(),
        _ => Some(&mut statement),
    };
    if let Some(place) = core.and_then(|core| {
        core.children.iter_mut().find(|child| !child.is_token("return") && !child.is_token(";"))
    }) {
        let list = place.is_a(Role::ExpressionList) && !value.is_a(Role::ExpressionList);
        let place = match list && place.children.len() == 1 {
            true => &mut place.children[0],
            false => place,
        };
        replace_node(place, value);
    }
    statement
}

/// Returns what changed in a unit, as words for the reasons: its signature, a removed check, or its
/// body.
pub(super) fn what_changed(before: &Tree, after: &Tree, renames: &Renames) -> Vec<String> {
    let (Some(old), Some(new)) = (helpers::function_of(before), helpers::function_of(after)) else {
        return vec!["body".into()];
    };
    let mut said = Vec::new();
    let unresolved = |tree: Tree| Resolved { tree, names: Default::default() };
    let header = |tree: &Tree| {
        let mut tree = tree.clone();
        tree.children.retain(|child| child.field != Some("body"));
        unresolved(tree)
    };
    let body = |tree: &Tree| tree.child("body").cloned().map(unresolved);
    if compare_trees(&header(old), &header(new), renames).is_none() {
        said.push("signature".to_owned());
    }
    if let (Some(one), Some(two)) = (body(old), body(new)) {
        let gone = removed_checks(&one.tree, &two.tree);
        if !gone.is_empty() {
            said.push(format!("removed check ({})", gone.join("; ")));
        } else if compare_trees(&one, &two, renames).is_none() {
            said.push("body".to_owned());
        }
    }
    if said.is_empty() {
        said.push("decorators or modifiers".to_owned());
    }
    said
}

/// Returns the checks that were removed. Returns nothing if there are as many checks as before, or
/// more.
fn removed_checks(before: &Tree, after: &Tree) -> Vec<String> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    checks(before, &mut old);
    checks(after, &mut new);
    if new.len() >= old.len() {
        return Vec::new();
    }
    old.retain(|check| {
        let kept = new.iter().position(|one| one == check);
        kept.map(|at| new.swap_remove(at)).is_none()
    });
    old
}

fn checks(tree: &Tree, found: &mut Vec<String>) {
    let leaves = |tree: &Tree| -> bool {
        let all = if is_block(tree) { statements(tree) } else { vec![tree.clone()] };
        let leaving = |one: &Tree| {
            one.is_a(Role::Leaving)
                || one.children.first().is_some_and(|inner| inner.is_a(Role::Leaving))
                || one.joined_tokens().starts_with("panic")
        };
        all.last().is_some_and(leaving)
    };
    let is_assertion = tree.is_a(Role::Assertion)
        || tree.is_a(Role::MacroInvocation) && tree.joined_tokens().starts_with("assert");
    let exits = tree.is_a(Role::If) && tree.child("consequence").is_some_and(leaves);
    let check = match is_assertion {
        true => Some(tree),
        false => tree.child("condition").filter(|_| exits),
    };
    found.extend(check.map(|check| check.joined_tokens().chars().take(60).collect::<String>()));
    tree.children.iter().for_each(|child| checks(child, found));
}
