//! Finds out which names in a tree are local to it, and to which declaration each of them refers.
//!
//! Errors are allowed in one direction only: a name that is marked as local must really be local,
//! and must refer to the given declaration. If that is not certain, the name is free or fixed.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::sugar::is_plain_macro;
use super::{NameKind, Tree, words_in};
use crate::language;
use crate::language_tables::roles::Role;
use crate::lists::words;
use crate::syntax::{NameReach, Syntax, holds};

#[derive(Clone, Debug)]
pub struct Local {
    pub name: Arc<str>,
    /// True if callers or the run-time can see the name, as for a Python parameter. Such a name
    /// must not change.
    pub public: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Resolution {
    pub locals: Vec<Local>,
    pub free: HashSet<Arc<str>>,
    pub fixed: HashSet<Arc<str>>,
    /// True if something in the tree reads names at run-time, or declares them for some platforms
    /// only. Then no name may change.
    pub reflective: bool,
}

impl Resolution {
    /// Returns true if renaming this local makes no difference to anything else.
    pub fn may_rename(&self, local: u32) -> bool {
        self.locals
            .get(local as usize)
            .is_some_and(|known| !self.reflective && !known.public && !self.mentions(&known.name))
    }

    pub fn mentions(&self, name: &str) -> bool {
        self.free.contains(name) || self.fixed.contains(name)
    }
}

pub fn resolve(tree: &mut Tree, language: &str) -> Resolution {
    tree.visit_mut(&mut |node| node.name = NameKind::Not);
    let syntax = language::by_id(language).map(|known| known.syntax);
    let scoping = syntax.filter(|syntax| syntax.reach.is_some());
    let (scopes, pattern, out) = Default::default();
    let mut resolver = Resolver { scoping, language, scopes, pattern, out };
    resolver.visit(tree, "");
    let mut found = resolver.out;
    if scoping.is_some_and(|syntax| syntax.naming.iter().any(|word| tree.mentions(word))) {
        tree.visit(&mut |node| {
            let local = named_function(node).and_then(|local| found.locals.get_mut(local as usize));
            local.into_iter().for_each(|local| local.public = true);
        });
    }
    found
}

/// Returns true if a function reads the name that it has, as by `__FUNCTION__` in PHP.
pub fn reads_own_name(function: &Tree, language: &str) -> bool {
    let words = language::by_id(language).map_or(&[][..], |known| known.syntax.naming);
    words.iter().any(|word| word.starts_with("__") && function.mentions(word))
}

/// Returns the local after which a function or class is named at run-time: `a` in `def a(): …` and
/// `a = () => 1`.
fn named_function(node: &Tree) -> Option<u32> {
    let holder = |field: &str| node.child(field).filter(|child| child.local().is_some());
    let value = ["value", "right"].iter().find_map(|field| node.child(field));
    let is_named = value.map_or(node, |value| value).is_any(&[Role::Function, Role::ClassValue]);
    let name = ["name", "left", "pattern"].into_iter().find_map(holder);
    name.filter(|_| is_named)?.local()
}

#[derive(Default)]
struct NameScope {
    names: HashMap<Arc<str>, u32>,
    /// Names that `global` and `nonlocal` take from an outer scope.
    outer: HashSet<Arc<str>>,
    function: bool,
}

struct Resolver<'a> {
    scoping: Option<&'static Syntax>,
    language: &'a str,
    scopes: Vec<NameScope>,
    /// The names declared by the pattern that is being read. Alternatives, as in `A(x) | B(x)`,
    /// declare one local together.
    pattern: HashMap<Arc<str>, u32>,
    out: Resolution,
}

fn is_identifier(leaf: &Tree) -> bool {
    leaf.text.is_some() && leaf.is_a(Role::Identifier)
}

fn is_name(leaf: &Tree, scoping: &Syntax) -> bool {
    leaf.text.is_some() && scoping.is_name(leaf.kind)
}

impl Resolver<'_> {
    fn visit(&mut self, tree: &mut Tree, parent: &'static str) {
        let Some(scoping) = self.scoping else { return resolve_by_kind(tree) };
        if tree.text.is_some() {
            return self.leaf(tree, parent, scoping);
        }
        let inside = !self.scopes.is_empty();
        self.out.reflective |= scoping.reflecting.contains(&tree.kind);
        // Code under `#[cfg]` may declare the same name once for each platform.
        let conditional = tree.is_a(Role::AttributeItem) && tree.mentions("cfg");
        self.out.reflective |= inside && conditional;
        // `f"{x=}"` prints the name.
        let shown = tree.is_a(Role::Interpolation) && tree.has_child_token("=");
        if inside && (shown || self.is_opaque(tree, parent, scoping)) {
            return self.fix(tree);
        }
        if tree.is_a(Role::MacroInvocation) && self.language == "rust" {
            return self.macro_call(tree);
        }
        if tree.is_a(Role::CompositeLiteral) {
            let is_struct = |of: &Tree| of.is_any(&[Role::NamedType, Role::StructType]);
            let has_fields = tree.child("type").is_some_and(is_struct);
            if let Some(body) = tree.child_mut("body").filter(|_| has_fields) {
                mark_keys(body, NameKind::Member);
            }
        } else if tree.is_a(Role::LiteralValue) && Role::LiteralElement.has_kind(parent) {
            // In `[]T{{key: value}}`, nobody knows whether the key is a field.
            mark_keys(tree, NameKind::Fixed);
            let keys = tree.nodes_with(|node| node.name == NameKind::Fixed).into_iter();
            self.out.fixed.extend(keys.filter_map(|key| key.text.clone()));
        }
        // The class may inherit a field with the name of a local.
        if inside && self.language == "java" && tree.is_a(Role::ClassBody) {
            self.keep_names(tree);
        }
        if scoping.keyed.contains(&(parent, tree.kind)) && tree.children.len() > 2 {
            let key = tree.children.first_mut().filter(|key| key.text.is_some());
            key.into_iter().for_each(|key| key.name = NameKind::Member);
        }
        let function = scoping.functions.contains(&tree.kind);
        // In Lua, names declared in the body of a `repeat` loop are visible in the condition at its
        // end.
        let holder = scoping.functions.contains(&parent) || Role::Repeat.has_kind(parent);
        let is_body = holder && tree.field == Some("body");
        let opens = function || (inside && !is_body && scoping.scopes.contains(&tree.kind));
        let mut done = HashSet::new();
        if function {
            self.declared_name(tree, parent, scoping, &mut done);
        }
        if opens {
            if !function && scoping.reach == Some(NameReach::Function) {
                self.first_iterable(tree);
            }
            self.scopes.push(NameScope { function, ..NameScope::default() });
            self.hoist(tree, scoping);
        }
        let late = scoping.late.contains(&tree.kind);
        let kind = tree.kind;
        let binds = !self.scopes.is_empty() && declares(tree);
        let closed = binds && has_other_use(tree);
        // Names that are bound late are visible in the body only. So visit everything else first,
        // then the bindings, then the body.
        let phase_of = |binding: bool, field: Option<&str>| match (late, binding, field) {
            (true, true, _) => 1,
            (true, false, Some("body")) => 2,
            _ => 0,
        };
        let declared: HashSet<usize> = (1..tree.children.len())
            .filter(|at| scoping.declares(kind, tree.children[at - 1].text.as_deref()))
            .collect();
        for phase in 0..if late { 3 } else { 1 } {
            for (at, child) in tree.children.iter_mut().enumerate() {
                let place = scoping.binds(kind, child.field) || declared.contains(&at);
                let fits = is_name(child, scoping) || scoping.is_pattern(child.kind);
                let binding = binds && place && fits;
                if done.contains(&at) || phase_of(binding, child.field) != phase {
                    continue;
                }
                if !binding {
                    self.visit(child, kind);
                    continue;
                }
                let outer_pattern = mem::take(&mut self.pattern);
                self.bind(child, kind, closed, scoping);
                self.pattern = outer_pattern;
            }
        }
        if opens {
            self.scopes.pop();
        }
    }

    /// Resolves a function's own name, which belongs to the enclosing scope. A decorator may read
    /// it.
    fn declared_name(
        &mut self,
        tree: &mut Tree,
        parent: &str,
        scoping: &Syntax,
        done: &mut HashSet<usize>,
    ) {
        let is_decorated = Role::Wrapping.has_kind(parent);
        let inside = !self.scopes.is_empty();
        for (at, child) in tree.children.iter_mut().enumerate() {
            if child.field != Some("name") || child.text.is_none() {
                continue;
            }
            done.insert(at);
            child.name = match self.lookup(child) {
                Some(local) if inside => {
                    let known = self.out.locals.get_mut(local as usize);
                    known.into_iter().for_each(|known| known.public |= is_decorated);
                    NameKind::Local(local)
                }
                _ if inside && is_name(child, scoping) => {
                    self.out.fixed.extend(child.text.clone());
                    NameKind::Fixed
                }
                _ if is_name(child, scoping) => NameKind::Free,
                _ => NameKind::Member,
            };
        }
    }

    /// Visits the first iterable of a comprehension, which is evaluated outside its scope.
    fn first_iterable(&mut self, tree: &mut Tree) {
        let clause = tree.children.iter_mut().find(|child| child.is_a(Role::ForInClause));
        let Some(clause) = clause else { return };
        let kind = clause.kind;
        if let Some(right) = clause.child_mut("right") {
            self.visit(right, kind);
            // Mark every name, because a second visit must not change what a leaf refers to.
            right.visit_mut(&mut |leaf| {
                if leaf.name == NameKind::Not && is_identifier(leaf) {
                    leaf.name = NameKind::Free;
                }
            });
        }
    }

    fn is_opaque(&self, tree: &Tree, parent: &str, scoping: &Syntax) -> bool {
        let header = tree.is_a(Role::FunctionDeclarator)
            && (scoping.functions.contains(&parent) || Role::PointerDeclarator.has_kind(parent))
            && tree.field == Some("declarator");
        scoping.opaque.contains(&tree.kind) && !header || self.is_call_of_macro(tree)
    }

    /// Returns true if a call in C is probably one of a macro, such as `FIELD(a)` for `v_##x`.
    fn is_call_of_macro(&self, tree: &Tree) -> bool {
        let name = tree.child("function").and_then(|function| function.text.as_deref());
        matches!(self.language, "c" | "cpp")
            && tree.is_a(Role::CallExpression)
            && name.is_some_and(|name| !name.contains(char::is_lowercase))
    }

    fn leaf(&mut self, leaf: &mut Tree, parent: &str, scoping: &Syntax) {
        if leaf.name != NameKind::Not {
            return;
        }
        if !is_name(leaf, scoping) {
            self.out.reflective |=
                leaf.text.as_deref().is_some_and(|text| scoping.reflection.contains(&text));
            leaf.name = name_by_kind(leaf.kind);
            if leaf.name == NameKind::Fixed {
                self.out.fixed.extend(leaf.text.clone());
            }
            return;
        }
        if holds(scoping.member_names, parent, leaf.field) {
            leaf.name = NameKind::Member;
            return;
        }
        if self.language == "csharp" && matches!(leaf.field, Some("type" | "returns")) {
            leaf.name = NameKind::Type;
            return;
        }
        // `<a.b>` and `<A x={1}>` name a component or an attribute; `<p>{a}</p>` has a value.
        if Role::Jsx.has_kind(parent) && !Role::JsxExpression.has_kind(parent) {
            return self.fix(leaf);
        }
        self.reference(leaf, scoping);
    }

    fn reference(&mut self, leaf: &mut Tree, scoping: &Syntax) {
        let text = leaf.text.clone().unwrap_or_default();
        self.out.reflective |= scoping.reflection.contains(&&*text);
        leaf.name = match self.lookup(leaf) {
            Some(local) => NameKind::Local(local),
            None => {
                self.out.free.insert(text);
                NameKind::Free
            }
        };
    }

    fn lookup(&self, leaf: &Tree) -> Option<u32> {
        let text = leaf.text.as_deref()?;
        let knows =
            |scope: &&NameScope| scope.outer.contains(text) || scope.names.contains_key(text);
        let scope = self.scopes.iter().rev().find(knows)?;
        scope.names.get(text).copied().filter(|_| !scope.outer.contains(text))
    }

    fn bind(
        &mut self,
        tree: &mut Tree,
        parent: &'static str,
        closed: bool,
        scoping: &'static Syntax,
    ) {
        if tree.text.is_some() {
            let text = tree.text.as_deref().unwrap_or_default();
            let constant = self.language == "rust" && text.starts_with(char::is_uppercase);
            if !is_name(tree, scoping) || constant || tree.is_token("_") {
                return self.visit(tree, parent);
            }
            let public = closed || holds(scoping.public_names, parent, tree.field);
            return self.declare(tree, public, scoping);
        }
        if !scoping.is_pattern(tree.kind) {
            return self.visit(tree, parent);
        }
        let kind = tree.kind;
        let closed = closed || has_other_use(tree);
        let late = scoping.late.contains(&kind);
        let fits = |child: &Tree| {
            !holds(scoping.not_pattern, kind, child.field)
                && (!late || is_name(child, scoping) || scoping.is_pattern(child.kind))
        };
        // A value is evaluated before its name is visible.
        if late {
            let values = tree.children.iter_mut().filter(|child| !fits(child));
            values.for_each(|child| self.visit(child, kind));
        }
        for child in &mut tree.children {
            match fits(child) {
                true => self.bind(child, kind, closed, scoping),
                false if late => {}
                false => self.visit(child, kind),
            }
        }
    }

    fn declare(&mut self, leaf: &mut Tree, public: bool, scoping: &Syntax) {
        let Some(text) = leaf.text.clone() else { return };
        let known = match scoping.reach {
            Some(NameReach::FromHereOnce) => self.scopes.last().and_then(|it| it.names.get(&text)),
            Some(NameReach::FromHere) | None => self.pattern.get(&text),
            Some(_) => self.within_function(&text),
        };
        let local = match known.copied() {
            Some(local) => local,
            None if self.scopes.last().is_some_and(|scope| scope.outer.contains(&text)) => {
                self.out.fixed.insert(text);
                leaf.name = NameKind::Fixed;
                return;
            }
            None => self.add_binding(text.clone()),
        };
        if let Some(known) = self.out.locals.get_mut(local as usize) {
            known.public |= public;
        }
        self.pattern.insert(text, local);
        leaf.name = NameKind::Local(local);
    }

    fn within_function(&self, text: &str) -> Option<&u32> {
        let function = self.scopes.iter().rposition(|scope| scope.function).unwrap_or(0);
        self.scopes[function..].iter().rev().find_map(|scope| scope.names.get(text))
    }

    fn add_binding(&mut self, text: Arc<str>) -> u32 {
        let local = self.out.locals.len() as u32;
        self.out.locals.push(Local { name: text.clone(), public: false });
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(text, local);
        }
        local
    }

    /// Declares the names that are visible even before the line of their declaration.
    fn hoist(&mut self, tree: &Tree, scoping: &Syntax) {
        let mut names = Vec::new();
        let mut outer = HashSet::new();
        match scoping.reach {
            Some(NameReach::FromHere | NameReach::FromHereOnce) | None => return,
            Some(NameReach::Function) => python_names(tree, true, scoping, &mut names, &mut outer),
            Some(NameReach::Everywhere) => {
                php_variables(tree, true, scoping, &mut names, &mut outer)
            }
            Some(NameReach::Block) => {
                if scoping.functions.contains(&tree.kind) {
                    script_vars(tree, true, scoping, &mut names);
                }
                script_lexical(tree, scoping, &mut names);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.outer.extend(outer.iter().cloned());
        }
        for name in names {
            let known = self.scopes.last().is_some_and(|scope| scope.names.contains_key(&name));
            if !known && !outer.contains(&name) {
                self.add_binding(name);
            }
        }
        if scoping.reach == Some(NameReach::Everywhere) {
            self.parameters_are_public(tree, scoping);
        }
    }

    /// Marks the parameters of a function as public, because callers can use their names. Called if
    /// all variables of the function were declared at once.
    fn parameters_are_public(&mut self, tree: &Tree, scoping: &Syntax) {
        let mut named = Vec::new();
        for list in tree.children.iter().filter(|child| child.field == Some("parameters")) {
            list.visit(&mut |node| {
                let own = |child: &&Tree| holds(scoping.public_names, node.kind, child.field);
                named.extend(node.children.iter().filter(own).filter_map(|one| one.text.clone()));
            });
        }
        let Some(scope) = self.scopes.last() else { return };
        for local in named.iter().filter_map(|name| scope.names.get(name)) {
            if let Some(known) = self.out.locals.get_mut(*local as usize) {
                known.public = true;
            }
        }
    }

    fn fix(&mut self, tree: &mut Tree) {
        if let Some(text) = &tree.text {
            let known = self.scoping.is_some_and(|scoping| scoping.is_name(tree.kind));
            if known || tree.is_a(Role::Name) {
                tree.name = NameKind::Fixed;
                self.out.fixed.insert(text.clone());
            } else if text.contains(|c: char| c.is_whitespace() || c == '(') {
                self.out.fixed.extend(words_in(text).map(Arc::from));
            }
        }
        tree.children.iter_mut().for_each(|child| self.fix(child));
    }

    /// Marks the locals that a tree uses as names that must not change.
    fn keep_names(&mut self, tree: &Tree) {
        for leaf in tree.tokens() {
            if let Some(local) = self.lookup(leaf) {
                self.out.locals[local as usize].public = true;
            }
        }
    }

    /// Resolves the arguments of macros that take plain expressions. The arguments of all other
    /// macros are fixed, because such a macro may do anything with them.
    fn macro_call(&mut self, tree: &mut Tree) {
        let plain = is_plain_macro(tree.child("macro").and_then(|name| name.text.as_deref()));
        for child in &mut tree.children {
            match child {
                _ if child.is_a(Role::TokenTree) && plain => self.macro_arguments(child),
                _ if child.is_a(Role::TokenTree) => self.fix(child),
                _ => child.visit_mut(&mut |node| {
                    if node.is_a(Role::Name) {
                        node.name = NameKind::Member;
                    }
                }),
            }
        }
    }

    fn macro_arguments(&mut self, tree: &mut Tree) {
        let Some(scoping) = self.scoping else { return };
        let texts: Vec<Option<Arc<str>>> = tree.children.iter().map(|c| c.text.clone()).collect();
        let near = |at: usize| texts.get(at).cloned().flatten().unwrap_or_default();
        for (at, child) in tree.children.iter_mut().enumerate() {
            let before = if at > 0 { near(at - 1) } else { Arc::default() };
            let after = near(at + 1);
            if child.is_a(Role::TokenTree) {
                let called = at > 1 && &*before == "!";
                match !called || is_plain_macro(Some(&near(at.saturating_sub(2)))) {
                    true => self.macro_arguments(child),
                    false => self.fix(child),
                }
            } else if child.text.is_none() {
                // A string with captured names, such as `"{x}"`.
                let captured = child.children.iter_mut().filter(|leaf| is_identifier(leaf));
                captured.for_each(|leaf| self.reference(leaf, scoping));
            } else if is_identifier(child) {
                let member = matches!(&*before, "." | "::") || matches!(&*after, "::" | "!" | ":");
                match member {
                    true => child.name = NameKind::Member,
                    false => self.reference(child, scoping),
                }
            } else {
                child.name = name_by_kind(child.kind);
            }
        }
    }
}

/// Marks the keys of a Go literal, such as `{key: value}`.
fn mark_keys(body: &mut Tree, name: NameKind) {
    let pairs = body.children.iter_mut().filter(|child| child.is_a(Role::KeyedElement));
    for key in pairs.filter_map(|pair| pair.children.first_mut()) {
        let is_wrapped = key.text.is_none() && key.children.len() == 1;
        let leaf = if is_wrapped { &mut key.children[0] } else { key };
        if is_identifier(leaf) {
            leaf.name = name;
        }
    }
}

/// Resolves names in a language without scoping rules, by node kind only. No name is local.
fn resolve_by_kind(tree: &mut Tree) {
    tree.visit_mut(&mut |node| match node.is_a(Role::Identifier) {
        _ if node.text.is_none() => {}
        true => node.name = NameKind::Free,
        false => node.name = name_by_kind(node.kind),
    });
}

fn name_by_kind(kind: &str) -> NameKind {
    match () {
        () if Role::TypeName.has_kind(kind) => NameKind::Type,
        () if Role::ShorthandFieldIdentifier.has_kind(kind) => NameKind::Fixed,
        () if Role::Name.has_kind(kind) || Role::PlainName.has_kind(kind) => NameKind::Member,
        () => NameKind::Not,
    }
}

/// Returns true if a node of a kind that can declare names does so: `x := range y`, `for (const x
/// of y)`.
fn declares(tree: &Tree) -> bool {
    match () {
        () if tree.is_a(Role::MayDeclare) => tree.has_child_token(":="),
        () if tree.is_a(Role::ForIn) => tree.child("kind").is_some(),
        () => true,
    }
}

/// Returns true if a parameter is also something else: it declares a field, or a framework knows it
/// by its name.
fn has_other_use(tree: &Tree) -> bool {
    tree.is_a(Role::DeclaredParameter)
        && tree.has_node(&|node| node.is_a(Role::ParameterMark) || node.is_token("readonly"))
}

fn pattern_names(tree: &Tree, scoping: &Syntax, names: &mut Vec<Arc<str>>) {
    if tree.text.is_some() {
        names.extend(tree.text.clone().filter(|_| is_name(tree, scoping)));
    } else if scoping.is_pattern(tree.kind) {
        let is_part = |child: &&Tree| !holds(scoping.not_pattern, tree.kind, child.field);
        let parts = tree.children.iter().filter(is_part);
        parts.for_each(|child| pattern_names(child, scoping, names));
    }
}

fn python_names(
    tree: &Tree,
    top: bool,
    scoping: &Syntax,
    names: &mut Vec<Arc<str>>,
    outer: &mut HashSet<Arc<str>>,
) {
    if tree.is_a(Role::OuterNames) {
        let names = tree.children.iter().filter(|child| is_identifier(child));
        outer.extend(names.filter_map(|name| name.text.clone()));
    }
    let function = scoping.functions.contains(&tree.kind);
    if !top && function {
        names.extend(tree.child("name").and_then(|name| name.text.clone()));
        return;
    }
    let comprehension = scoping.scopes.contains(&tree.kind);
    if !top && (comprehension || tree.is_a(Role::ClassDefinition)) {
        // `:=` inside a comprehension names a local of the function.
        let named = tree.nodes_with(|node| node.is_a(Role::Named));
        names.extend(named.into_iter().filter_map(|node| node.text_of("name").cloned()));
        return;
    }
    if top && comprehension {
        for clause in tree.children.iter().filter(|child| child.is_a(Role::ForInClause)) {
            clause.child("left").into_iter().for_each(|left| pattern_names(left, scoping, names));
        }
        return;
    }
    for child in &tree.children {
        if scoping.binds(tree.kind, child.field) {
            pattern_names(child, scoping, names);
        }
        python_names(child, false, scoping, names, outer);
    }
}

/// Collects the variables of a PHP function: all that it mentions, except those in `OTHERS`.
fn php_variables(
    tree: &Tree,
    top: bool,
    scoping: &Syntax,
    names: &mut Vec<Arc<str>>,
    outer: &mut HashSet<Arc<str>>,
) {
    const OTHERS: &[&str] = words!(
        "$this $GLOBALS $_SERVER $_GET $_POST $_FILES $_COOKIE $_SESSION $_REQUEST $_ENV $argc
        $argv"
    );
    if tree.is_a(Role::GlobalDeclaration) {
        outer.extend(tree.children.iter().filter_map(|child| child.text.clone()));
    }
    if !top && scoping.functions.contains(&tree.kind) {
        return;
    }
    for child in &tree.children {
        let own = is_name(child, scoping) && !holds(scoping.member_names, tree.kind, child.field);
        let text = child.text.clone().filter(|text| own && !OTHERS.contains(&&**text));
        names.extend(text);
        php_variables(child, false, scoping, names, outer);
    }
}

fn script_vars(tree: &Tree, top: bool, scoping: &Syntax, names: &mut Vec<Arc<str>>) {
    let function = scoping.functions.contains(&tree.kind);
    if !top && function {
        if tree.is_a(Role::HoistedFunction) {
            names.extend(tree.child("name").and_then(|name| name.text.clone()));
        }
        return;
    }
    let is_var = tree.is_a(Role::VariableDeclaration)
        || tree.is_a(Role::ForIn) && tree.has_token_as("kind", "var");
    for child in &tree.children {
        if tree.is_a(Role::ForIn) && is_var && child.field == Some("left") {
            pattern_names(child, scoping, names);
        }
        if is_var {
            declarator_names(child, scoping, names);
        }
        script_vars(child, false, scoping, names);
    }
}

fn declarator_names(tree: &Tree, scoping: &Syntax, names: &mut Vec<Arc<str>>) {
    if let Some(name) = tree.child("name").filter(|_| tree.is_a(Role::VariableDeclarator)) {
        pattern_names(name, scoping, names);
    }
}

fn script_lexical(tree: &Tree, scoping: &Syntax, names: &mut Vec<Arc<str>>) {
    let function = scoping.functions.contains(&tree.kind);
    for child in &tree.children {
        match child {
            _ if child.is_a(Role::LexicalDeclaration) => {
                child.children.iter().for_each(|one| declarator_names(one, scoping, names));
            }
            _ if child.is_a(Role::HoistedFunction) && !function => {
                names.extend(child.child("name").and_then(|name| name.text.clone()));
            }
            _ if child.is_a(Role::SwitchSection) => script_lexical(child, scoping, names),
            _ if child.is_a(Role::StatementBlock) && function => {
                script_lexical(child, scoping, names)
            }
            _ => {}
        }
    }
}
