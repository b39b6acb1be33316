//! Replaces calls of a function by its body.
//!
//! This undoes the extraction of a function: with the helper's body in place of each call, the new
//! text must do what the old text did. If the equality is doubtful (an argument would be evaluated
//! at another time, or a `return` would leave another function), the call is kept, and then the two
//! texts differ.

use std::collections::{HashMap, HashSet};

use code::language_tables::roles::Role;
use code::program::{NameKind, Tree, resolve};

use super::call_targets::CallForms;
use super::captured_names::DeclaredNames;
use super::helpers::{
    self, Helper, is_block, is_this, only_item, replace_node, returned, statements,
};
use super::pairs::Id;
use super::same::{RenamedDeclarations, Resolved, compare_trees};
use super::types::{LocalTypes, returned_type};

pub(super) struct ReachableHelper<'h> {
    pub id: Id,
    pub helper: &'h Helper,
    pub ways: CallForms,
}

pub(super) struct Inlined {
    pub tree: Tree,
    pub used: Vec<Id>,
}

/// A tree with more tokens than this is not changed.
const LARGEST: usize = 20_000;

/// Replaces the calls of helpers in a tree. Calls in the replaced bodies are kept.
pub(super) fn inlined(tree: &Tree, language: &str, helpers: &[ReachableHelper<'_>]) -> Inlined {
    let mut tree = tree.clone();
    if helpers.is_empty() || tree.tokens().len() > LARGEST {
        return Inlined { tree, used: Vec::new() };
    }
    let names = resolve(&mut tree, language);
    let given = DeclaredNames::from_tree(&tree, &names);
    let mut inliner = Inliner {
        language,
        helpers: helpers.iter().filter(|one| !given.any_of(&one.helper.surroundings)).collect(),
        used: Vec::new(),
        types: LocalTypes::from_tree(&tree),
        returns: helpers::function_of(&tree).and_then(|core| returned_type(core, language)),
        shared: shared_locals(&tree),
        entered: false,
        entered_body: false,
    };
    inliner.node(&mut tree, None);
    let mut seen = HashSet::new();
    inliner.used.retain(|id| seen.insert(*id));
    Inlined { tree, used: inliner.used }
}

struct Inliner<'h> {
    language: &'h str,
    helpers: Vec<&'h ReachableHelper<'h>>,
    used: Vec<Id>,
    types: LocalTypes,
    returns: Option<String>,
    shared: HashSet<u32>,
    entered: bool,
    entered_body: bool,
}

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
        let keeps_place = self.takes_places(tree);
        for child in &mut tree.children {
            let passed = matches!(child.field, None | Some("value" | "declarator"));
            // In `a.b(1)`, `delete a.b` and `a?.b.c`, more than the value of the operand counts.
            let is_place = keeps_place && !matches!(child.field, Some("arguments" | "index"));
            if !(is_place && self.call(child).is_some()) {
                self.node(child, said.as_deref().filter(|_| passed));
            }
        }
        if let Some(value) = self.expression(tree, wanted) {
            replace_node(tree, value);
        }
    }

    fn takes_places(&self, tree: &Tree) -> bool {
        matches!(self.language, "javascript" | "typescript" | "tsx")
            && (tree.is_any(&[Role::Call, Role::MemberExpression, Role::Subscript])
                || tree.is_a(Role::Unary)
                    && ["delete", "typeof"].iter().any(|word| tree.starts_with_token(word)))
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
        None
    }

    fn fill_all(&self, call: &HelperCall<'_>, statements: &[Tree]) -> Vec<Tree> {
        statements.iter().map(|one| self.fill(call, one)).collect()
    }

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
                if !typed || !is_stable(argument, &self.shared) {
                    return None;
                }
                known.insert(parameter.placeholder.clone(), (*argument).clone());
            }
            Some(HelperCall { id: *id, helper, arguments: known })
        })
    }
}

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

fn keeps_type(helper: &Helper, wanted: Option<&str>) -> bool {
    helper.keeps_type || (wanted.is_some() && helper.returns.as_deref() == wanted)
}

fn separator(node: &Tree) -> bool {
    matches!(node.text.as_deref(), Some("(" | ")" | ","))
}

fn callee(node: &Tree) -> Option<(String, Option<&Tree>, &Tree)> {
    let arguments = node.child("arguments")?;
    if node.is_a(Role::ExplicitConstructorInvocation) {
        let this = node.has_token_as("constructor", "this");
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
        *role != Role::ScopedIdentifier || function.has_token_as("path", "Self")
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
    let is_address = tree.is_a(Role::Reference) && tree.starts_with_token("&");
    let target = match tree {
        _ if is_address || is_inner && tree.is_a(Role::Update) => Some(tree),
        _ if is_inner && tree.is_any(&[Role::Effect, Role::Loop]) => tree.child("left"),
        _ => None,
    };
    shared.extend(target.into_iter().flat_map(Tree::tokens).filter_map(Tree::local));
    tree.children.iter().for_each(|child| add_shared_locals(child, is_inner, shared));
}

/// Returns true if a value is the same whenever it is read: a literal, a local that is not shared,
/// or the object itself.
fn is_stable(tree: &Tree, shared: &HashSet<u32>) -> bool {
    let literal = tree.is_any(&[Role::Literal, Role::PlainValue]);
    let composite = [Role::CompositeLiteral, Role::FuncLiteral];
    let calls = |node: &Tree| node.is_a(Role::InterpolatedValue) || node.name != NameKind::Not;
    let is_name = match tree.name {
        NameKind::Local(local) => tree.text.is_some() && !shared.contains(&local),
        _ => is_own(tree),
    };
    is_name || literal && !tree.is_any(&composite) && !tree.has_node(&calls)
}

fn substitute(tree: &mut Tree, arguments: &HashMap<String, Tree>) {
    if let Some(argument) = tree.text.as_deref().and_then(|text| arguments.get(text)) {
        replace_node(tree, argument.clone());
        return;
    }
    tree.children.iter_mut().for_each(|child| substitute(child, arguments));
}

fn with_value(statement: &Tree, value: Tree) -> Tree {
    let mut statement = statement.clone();
    let core = match statement {
        _ if statement.is_a(Role::ExpressionStatement) => statement.children.first_mut(),
        _ => Some(&mut statement),
    };
    let mut parts = core.into_iter().flat_map(|core| &mut core.children);
    if let Some(place) = parts.find(|one| !one.is_token("return") && !one.is_token(";")) {
        let is_list = place.is_a(Role::ExpressionList) && !value.is_a(Role::ExpressionList);
        match &mut place.children[..] {
            [only] if is_list => replace_node(only, value),
            _ => replace_node(place, value),
        }
    }
    statement
}

/// Returns what changed in a unit, as words for the reasons: its signature, a removed check, or its
/// body.
pub(super) fn what_changed(
    before: &Tree,
    after: &Tree,
    renames: &RenamedDeclarations,
) -> Vec<String> {
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
    let condition = || tree.child("condition").filter(|_| exits);
    let check = if is_assertion { Some(tree) } else { condition() };
    found.extend(check.map(|check| check.joined_tokens().chars().take(60).collect::<String>()));
    tree.children.iter().for_each(|child| checks(child, found));
}
