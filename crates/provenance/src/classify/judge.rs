//! Classifies a change set: pairs the units, compares each pair, then checks what depends on the
//! whole set.

use std::collections::{HashMap, HashSet};

use code::language_tables::roles::Role;
use code::program::{Tree, reads_own_name, words_in};
use code::{BlockKind, Document};

use super::call_targets::{self, FunctionsByName, functions_by_name};
use super::helpers::{self, Helper};
use super::imports;
use super::inline::{self, Inlined, ReachableHelper};
use super::mentions::Mentions;
use super::moved;
use super::order::{self, ListChange};
use super::pairs::{self, Id, UnitPairs};
use super::public::{
    has_base, is_asked_for, is_called, is_public, keeps_to_file, member, shows_member,
    without_visibility,
};
use super::same::{self, Alike, RenamedDeclarations, Resolved};
use super::spacing;
use super::statements::is_import;
use super::units::{ContainerMember, File, Unit, all_units};
use super::{BlockChange, Classification, Lookup, class_if};
use code::language_tables::framework_names::REFLECTIVE_LANGUAGES;

#[derive(Clone, Debug, Default)]
pub(super) struct UnitFindings {
    pub reasons: Vec<String>,
    /// True if the unit still does what it did before.
    pub unchanged: bool,
    /// True if, in addition, no code outside the unit is affected.
    pub contained: bool,
    /// New helpers whose body replaced their calls in this unit.
    pub extracted: Vec<Id>,
    /// Removed helpers whose body replaced their calls in the old version of this unit.
    pub inlined: Vec<Id>,
}

impl UnitFindings {
    fn proven(reasons: Vec<String>) -> Self {
        Self { reasons, unchanged: true, contained: true, ..Self::default() }
    }

    fn changed(reasons: Vec<String>) -> Self {
        Self { reasons, ..Self::default() }
    }

    fn affects_others(&mut self, reason: &str) {
        self.reasons.push(reason.to_owned());
        self.contained = false;
    }

    fn differs(&mut self, reason: &str) {
        self.affects_others(reason);
        self.unchanged = false;
    }
}

#[derive(Default)]
pub(super) struct ChangeSet<'a> {
    pub before: Vec<File<'a>>,
    pub after: Vec<File<'a>>,
    pub pairs: UnitPairs,
    pub renames: RenamedDeclarations,
    new: Vec<(Id, Helper)>,
    gone: Vec<(Id, Helper)>,
    /// The functions before and after the change, by language and name.
    named: (FunctionsByName, FunctionsByName),
    moved: HashSet<String>,
    elsewhere: Mentions,
}

impl<'a> ChangeSet<'a> {
    pub(super) fn from_files(
        before: &[(&'a str, &Document)],
        after: &[(&'a str, &Document)],
        others: &Lookup<'_>,
    ) -> Self {
        // Files that are equal on both sides are not compared. They only tell which names are in
        // use.
        let is_in = |files: &[(&str, &Document)], file: &(&str, &Document)| {
            files.iter().any(|other| other.0 == file.0 && other.1.text() == file.1.text())
        };
        let (same, old): (Vec<_>, Vec<_>) =
            before.iter().copied().partition(|file| is_in(after, file));
        let new = after.iter().filter(|file| !is_in(before, file));
        let read = |(path, document)| File::from_document(path, document);
        let before: Vec<File<'_>> = old.into_iter().map(read).collect();
        let after: Vec<File<'_>> = new.copied().map(read).collect();
        let mut set = Self {
            pairs: pairs::pair(&before, &after),
            named: (functions_by_name(&before), functions_by_name(&after)),
            before,
            after,
            ..Self::default()
        };
        set.new = set.helpers(&set.after, &|id| !set.pairs.before_of.contains_key(id));
        set.gone = set.helpers(&set.before, &|id| !set.pairs.after_of.contains_key(id));
        set.moved = set.moved_names();
        let candidates = set.renamed();
        set.renames = set.renamed_declarations(&candidates);
        set.elsewhere = Mentions::outside_change(&set.at_stake(&candidates), &same, others);
        set
    }

    fn helpers(&self, files: &[File<'_>], free: &dyn Fn(&Id) -> bool) -> Vec<(Id, Helper)> {
        let free = all_units(files).filter(|(id, ..)| id.1 != 0 && free(id));
        free.filter_map(|(id, file, unit)| {
            Some((id, helpers::helper(&unit.tree, &unit.name, file.language())?))
        })
        .collect()
    }

    pub(super) fn unit_before(&self, id: Id) -> (&File<'a>, &Unit) {
        (&self.before[id.0], &self.before[id.0].units[id.1])
    }

    pub(super) fn unit_after(&self, id: Id) -> (&File<'a>, &Unit) {
        (&self.after[id.0], &self.after[id.0].units[id.1])
    }

    fn renamed(&self) -> Vec<(String, String)> {
        let mut candidates: Vec<(String, String)> = Vec::new();
        for (old, new) in &self.pairs.after_of {
            let ((_, before), (_, after)) = (self.unit_before(*old), self.unit_after(*new));
            if before.name != after.name && before.is_function() == after.is_function() {
                candidates.push((before.name.clone(), after.name.clone()));
            }
            let mut names = Vec::new();
            if !before.is_function() && same::differing_names(&before.tree, &after.tree, &mut names)
            {
                candidates.extend(declared(&before.tree, names));
            }
        }
        candidates.sort();
        candidates.dedup();
        candidates
    }

    /// Returns those candidates whose old name is no longer used in the change set.
    fn renamed_declarations(&self, candidates: &[(String, String)]) -> RenamedDeclarations {
        if candidates.is_empty() {
            return RenamedDeclarations::default();
        }
        let (old, new) = (Mentions::from_files(&self.before), Mentions::from_files(&self.after));
        let alone = |candidate: &&(String, String)| {
            let (from, to) = candidate;
            candidates.iter().filter(|other| other.0 == *from || other.1 == *to).count() == 1
                && !new.has_name(from)
                && !old.has_name(to)
                && from.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        };
        let names: HashMap<String, String> = candidates.iter().filter(alone).cloned().collect();
        let mut owners = HashSet::new();
        for (_, file, unit) in all_units(&self.before).filter(|(_, _, unit)| {
            names.contains_key(&unit.name)
                || names.keys().any(|old| member(&unit.tree, old).is_some())
        }) {
            let owner = match unit.container {
                _ if !names.contains_key(&unit.name) => unit.name.as_str(),
                Some(0) | None => file_stem(module_name(file.path)),
                Some(at) => file.units[at].name.as_str(),
            };
            owners.extend(words_in(owner).map(str::to_owned));
        }
        RenamedDeclarations { names, owners }
    }

    /// Returns the names that other files may use: those of definitions that were renamed or moved,
    /// and of helpers that were extracted or inlined.
    fn at_stake<'s>(&'s self, candidates: &'s [(String, String)]) -> Vec<&'s str> {
        let mut names: Vec<&str> =
            candidates.iter().flat_map(|(old, new)| [old.as_str(), new.as_str()]).collect();
        names.extend(self.moved.iter().map(String::as_str));
        names.extend(self.new.iter().chain(&self.gone).map(|(_, helper)| helper.name.as_str()));
        let files = self.pairs.after_of.iter().filter(|(old, _)| old.1 == 0);
        let paths = files.map(|(old, new)| (self.before[old.0].path, self.after[new.0].path));
        names.extend(paths.filter(|(old, new)| old != new).map(|(old, _)| file_stem(old)));
        if !names.is_empty() {
            // Code that includes a C file can use everything in it.
            let files = self.before.iter().filter(|file| matches!(file.language(), "c" | "cpp"));
            names.extend(files.map(|file| file_name(file.path)));
        }
        names
    }

    fn used_elsewhere(
        &self,
        file: &File<'_>,
        unit: &Unit,
        member: Option<&Tree>,
        name: &str,
    ) -> bool {
        let included =
            matches!(file.language(), "c" | "cpp") && self.elsewhere.says(file_name(file.path));
        match keeps_to_file(file, unit, member) && !included {
            true => REFLECTIVE_LANGUAGES.contains(&file.language()) && self.elsewhere.says(name),
            false => self.elsewhere.has_name(name),
        }
    }

    fn moved_names(&self) -> HashSet<String> {
        let mut moved = HashSet::new();
        for (old, new) in &self.pairs.after_of {
            let ((_, before), (_, after)) = (self.unit_before(*old), self.unit_after(*new));
            let home = self.pairs.after_of.get(&(old.0, 0)) == Some(&(new.0, 0));
            if !home || before.name != after.name {
                moved.extend([before.name.clone(), after.name.clone()]);
            }
        }
        moved.remove("");
        moved
    }

    pub(super) fn judged(&self) -> Classification {
        let pairs = self.pairs.after_of.iter();
        let found: HashMap<Id, UnitFindings> =
            pairs.map(|(old, new)| (*new, self.compared(*old, *new))).collect();
        // The helpers whose body replaced a call in at least one proven unit.
        let (mut extracted, mut inlined) = (HashSet::new(), HashSet::new());
        for findings in found.values() {
            extracted.extend(&findings.extracted);
            inlined.extend(&findings.inlined);
        }
        let mut blocks = Vec::new();
        for (id, file, unit) in all_units(&self.after) {
            let before = self.pairs.before_of.get(&id).map(|old| self.unit_before(*old));
            let judged = match (before, found.get(&id)) {
                (Some(_), Some(judged)) => judged.clone(),
                _ if is_empty_shell(&self.after, id) => continue,
                _ => self.added(id, &extracted),
            };
            if !judged.reasons.is_empty() {
                let was_broken = before.is_some_and(|(file, unit)| broken(file, unit));
                let after = Some((file.path.to_owned(), unit.bytes.clone()));
                let is_broken = was_broken || broken(file, unit);
                blocks.push(entry((file, unit), judged, is_broken, after));
            }
        }
        for (id, file, unit) in all_units(&self.before) {
            if !self.pairs.after_of.contains_key(&id) && !is_empty_shell(&self.before, id) {
                let judged = self.removed(id, &inlined);
                blocks.push(entry((file, unit), judged, broken(file, unit), None));
            }
        }
        self.unexplained(&mut blocks);
        let error = blocks.iter().any(|block| block.class.is_none());
        self.unreadable(&mut blocks);
        Classification::from_changes(blocks, error)
    }

    /// Adds an entry for each file that cannot be parsed. No change of such a text can be proven
    /// harmless.
    fn unreadable(&self, blocks: &mut Vec<BlockChange>) {
        let all = self.before.iter().chain(&self.after);
        let mut seen = HashSet::new();
        let unread = all.filter(|file| file.program.is_none()).map(|file| file.path);
        for path in unread.filter(|path| seen.insert(*path)) {
            let find = |files: &[File<'_>]| {
                let file = files.iter().find(|file| file.path == path)?;
                Some((path.to_owned(), 0..file.text.len()))
            };
            let (before, after) = (find(&self.before), find(&self.after));
            let said = match (&before, &after) {
                (None, _) => "added",
                (_, None) => "removed",
                _ => "text",
            };
            blocks.push(BlockChange { after, ..BlockChange::of_file(path, said) });
        }
    }

    /// Adds an entry for each file whose texts differ although no unit does: in white space between the
    /// units, such as an import that is on several lines now.
    fn unexplained(&self, blocks: &mut Vec<BlockChange>) {
        for (old, new) in self.pairs.after_of.iter().filter(|(old, _)| old.1 == 0) {
            let (before, after) = (&self.before[old.0], &self.after[new.0]);
            let has_entry = blocks
                .iter()
                .any(|block| block.after.as_ref().is_some_and(|(path, _)| *path == after.path));
            if has_entry || self.has_other_units(*old, *new) || before.text == after.text {
                continue;
            }
            let is_broken = broken(before, &before.units[0]) || broken(after, &after.units[0]);
            let is_proven = !is_broken && !spacing::has_meaning_between(before, after);
            let found = if is_proven { "formatting" } else { "text" };
            blocks.push(BlockChange {
                class: (!is_broken).then(|| class_if(is_proven)),
                contained: is_proven,
                after: Some((after.path.to_owned(), 0..after.text.len())),
                ..BlockChange::of_file(after.path, found)
            });
        }
    }

    /// Returns true if a unit of one of two versions of a file is not in the other one.
    fn has_other_units(&self, old: Id, new: Id) -> bool {
        let went = |at: usize| self.pairs.after_of.get(&(old.0, at)).is_none_or(|to| to.0 != new.0);
        let came =
            |at: usize| self.pairs.before_of.get(&(new.0, at)).is_none_or(|of| of.0 != old.0);
        (0..self.before[old.0].units.len()).any(went)
            || (0..self.after[new.0].units.len()).any(came)
    }

    fn compared(&self, old: Id, new: Id) -> UnitFindings {
        let ((old_file, before), (new_file, after)) = (self.unit_before(old), self.unit_after(new));
        let language = new_file.language();
        if old_file.language() != language {
            return UnitFindings::changed(vec!["another language".into()]);
        }
        let mut found = match old.1 {
            0 => self.compare_files(old, new),
            _ => self.compare_definitions(old, new),
        };
        self.compare_place(old, new, &mut found);
        match order::order((old_file, old), (new_file, new), &self.pairs) {
            ListChange::Same => {}
            ListChange::Harmless => found.reasons.push("reordered".into()),
            ListChange::Changed => {
                found.affects_others("order");
                found.unchanged &= before.is_function() && after.is_function();
            }
        }
        let (old_comments, new_comments) = (old_file.comments(old.1), new_file.comments(new.1));
        let runs = |file: &File<'_>| new.1 == 0 && file.text.starts_with("#!");
        if old_comments.1 != new_comments.1 || runs(old_file) != runs(new_file) {
            found.differs("directive");
        } else if old_comments.0 != new_comments.0 && found.unchanged {
            found.reasons.push("comments".into());
        } else if found.reasons.is_empty() && self.text_differs(old, new) {
            match spacing::has_meaning((old_file, before), (new_file, after)) {
                true => found.differs("white space"),
                false => found.reasons.push("formatting".into()),
            }
        }
        found
    }

    fn text_differs(&self, old: Id, new: Id) -> bool {
        let ((old_file, before), (new_file, after)) = (self.unit_before(old), self.unit_after(new));
        let has_units = |unit: &Unit| {
            unit.members.iter().any(|member| matches!(member, ContainerMember::Unit(_)))
        };
        match !has_units(before) && !has_units(after) {
            true => old_file.text[before.bytes.clone()] != new_file.text[after.bytes.clone()],
            // The members are units of their own and are compared separately.
            false => before.tree.joined_tokens() != after.tree.joined_tokens(),
        }
    }

    fn compare_place(&self, old: Id, new: Id, found: &mut UnitFindings) {
        let ((old_file, before), (new_file, after)) = (self.unit_before(old), self.unit_after(new));
        if new.1 == 0 {
            if old_file.path != new_file.path {
                found.reasons.push(format!("file renamed from {}", old_file.path));
                if imports::means_other_files(old_file, new_file.path) {
                    found.differs("its relative imports now mean other files");
                } else if self.is_found_by_path(old_file) {
                    found.affects_others("something may find the file by its path");
                }
            }
            return;
        }
        if before.name != after.name {
            found.reasons.insert(0, format!("renamed from {}", before.name));
            let known = self.renames.names.get(&before.name) == Some(&after.name);
            if reads_own_name(&before.tree, old_file.language()) {
                found.differs("it reads its own name");
            } else if is_public(old_file, before) || is_public(new_file, after) {
                found.affects_others("API: a public name changed");
            } else if !known {
                found.affects_others("the old name is still in use, or the new one was before");
            } else if self.used_elsewhere(old_file, before, None, &before.name)
                || self.used_elsewhere(new_file, after, None, &after.name)
            {
                found.affects_others("another file may use the old name, or the new one");
            }
        }
        let (Some(was), Some(is)) = (before.container, after.container) else { return };
        if self.home(old, new) {
            return;
        }
        let from = match was {
            0 => old_file.path.to_owned(),
            at => format!("{} in {}", old_file.units[at].name, old_file.path),
        };
        found.reasons.push(format!("moved from {from}"));
        let free = old_file.units[was].identity.is_none() && new_file.units[is].identity.is_none();
        let same_type = old_file.units[was].name == new_file.units[is].name;
        let by_module = by_module(new_file.language());
        let exported = by_module && is_public(old_file, before);
        let is_looked_up = by_module && self.used_elsewhere(old_file, before, None, &before.name);
        let still_there = self
            .pairs
            .after_of
            .get(&(old.0, 0))
            .is_some_and(|home| self.after[home.0].units[0].tree.mentions(&after.name));
        if !(free || same_type) {
            found.affects_others("another type");
        } else if exported && !still_there {
            found.affects_others("API: a public name is found elsewhere");
        } else if is_looked_up && !still_there {
            found.affects_others("another file may refer to its old place");
        }
        if old_file.path != new_file.path
            && !moved::surely_means_the_same(old_file, before, new_file)
        {
            found.affects_others("a name it uses may mean something else there");
        }
    }

    /// Returns true if something outside the file may refer to its path: another file names it, or a tool
    /// finds files by their name or folder, as a runner finds tests and a linter its settings.
    fn is_found_by_path(&self, file: &File<'_>) -> bool {
        let stem = file_stem(file.path);
        let is_program = file.program.as_ref().is_some_and(|it| it.language.has_scopes());
        !is_program || is_called(file.language(), stem) || self.elsewhere.has_name(stem)
    }

    fn compare_files(&self, old: Id, new: Id) -> UnitFindings {
        let ((old_file, before), (new_file, after)) = (self.unit_before(old), self.unit_after(new));
        let language = new_file.language();
        let mut elsewhere = HashSet::new();
        for (b, a) in self.pairs.after_of.iter().filter(|(b, _)| b.1 == 0) {
            if (*b, *a) != (old, new) {
                elsewhere.extend(imports::differing(&self.before[b.0], &self.after[a.0]));
            }
        }
        let is_new = |at: usize| !self.pairs.before_of.contains_key(&(at, 0));
        for (_, file) in self.after.iter().enumerate().filter(|(at, _)| is_new(*at)) {
            let own = file.units.first().into_iter().flat_map(|own| &own.tree.children);
            elsewhere.extend(own.filter(|child| is_import(child)).map(Tree::joined_tokens));
        }
        let rest = |unit: &Unit| {
            let mut tree = unit.tree.clone();
            tree.children.retain(|child| !is_import(child));
            Resolved::of_tree(&tree, language)
        };
        let mut found = match same::compare_trees(&rest(before), &rest(after), &self.renames) {
            Some(alike) => {
                let shown = self.shows_renamed(old_file, before, &alike.uses);
                UnitFindings { contained: !shown, ..UnitFindings::proven(differences(&alike)) }
            }
            None => UnitFindings::changed(vec!["statements".into()]),
        };
        let modules =
            self.before.iter().chain(&self.after).map(|file| module_name(file.path)).collect();
        match imports::imports(old_file, new_file, &self.moved, &elsewhere, &modules) {
            ListChange::Same => {}
            ListChange::Harmless => found.reasons.push("imports".into()),
            ListChange::Changed => found.differs("imports"),
        }
        found
    }

    fn compare_definitions(&self, old: Id, new: Id) -> UnitFindings {
        let ((old_file, before), (_, after)) = (self.unit_before(old), self.unit_after(new));
        let language = old_file.language();
        let mut renames = self.renames.clone();
        if before.name != after.name {
            renames.names.insert(before.name.clone(), after.name.clone());
        }
        let (was, is) =
            (Resolved::of_tree(&before.tree, language), Resolved::of_tree(&after.tree, language));
        if let Some(alike) = same::compare_trees(&was, &is, &renames) {
            let own = (before.name.clone(), after.name.clone());
            let uses: Vec<_> = alike.uses.iter().filter(|used| **used != own).cloned().collect();
            let shown = self.shows_renamed(old_file, before, &uses);
            let (locals, named) = (alike.locals.clone(), uses.clone());
            let mut found = UnitFindings::proven(differences(&Alike { uses: named, locals }));
            if shown {
                found.affects_others("API: a public name changed");
            }
            if self.may_inherit_names(old_file, before, &uses) {
                found.differs("an inherited member may have the name");
            }
            if self.shows_locals(old_file, before, &alike.locals) {
                found.differs("something may know the name of a local");
            }
            return found;
        }
        let elsewhere = !self.home(old, new);
        if elsewhere && let Some(how) = moved::relocated(self, old, new, &renames) {
            return UnitFindings { contained: false, ..UnitFindings::proven(how) };
        }
        if let Some(found) = self.through_helpers(old, new, &renames) {
            return found;
        }
        let bare = |unit: &Unit| Resolved::of_tree(&without_visibility(&unit.tree), language);
        if same::compare_trees(&bare(before), &bare(after), &renames).is_some() {
            return match elsewhere {
                true => UnitFindings {
                    contained: !is_public(old_file, before),
                    ..UnitFindings::proven(vec!["visibility".into()])
                },
                false => UnitFindings::changed(vec!["API: visibility".into()]),
            };
        }
        UnitFindings::changed(inline::what_changed(&before.tree, &after.tree, &renames))
    }

    /// Returns true if a unit uses a renamed declaration in a class that may inherit another one with
    /// the new name. For example, a class that extends `C` calls `g()` of the class around it. If `g` is
    /// called `step` now, and `C` has a `step`, that one is called.
    fn may_inherit_names(&self, file: &File<'_>, unit: &Unit, uses: &[(String, String)]) -> bool {
        if !matches!(file.language(), "java" | "cpp") || uses.is_empty() {
            return false;
        }
        let Some(home) = unit.container.filter(|at| *at != 0) else { return false };
        let declares = |old: &str| {
            let mut inside = file.units.iter().filter(|one| one.container == Some(home));
            inside.any(|one| one.name == old) || member(&file.units[home].tree, old).is_some()
        };
        let has_inner = unit.tree.has_node(&|node| node.is_a(Role::ClassBody));
        has_inner || has_base(&file.units[home]) && uses.iter().any(|(old, _)| !declares(old))
    }

    /// Returns true if the old or the new name of a local means something to others: an attribute of
    /// the function or of its type reads the names of parameters, or a constant has the name, which a
    /// pattern would then compare with.
    fn shows_locals(&self, file: &File<'_>, unit: &Unit, locals: &[(String, String)]) -> bool {
        let container = unit.container.map(|at| &file.units[at]);
        let is_read =
            is_asked_for(file, unit) || container.is_some_and(|it| is_asked_for(file, it));
        let parameters = helpers::function_of(&unit.tree).and_then(|it| it.child("parameters"));
        let is_parameter = |name: &str| parameters.is_some_and(|list| list.mentions(name));
        let is_constant = |name: &str| {
            let constants = [BlockKind::Constant, BlockKind::Variable, BlockKind::Macro];
            file.units.iter().any(|one| {
                one.name == name && one.block_kind().is_some_and(|kind| constants.contains(&kind))
            })
        };
        locals
            .iter()
            .any(|(old, new)| is_read && is_parameter(old) || is_constant(old) || is_constant(new))
    }

    /// Returns true if a container renamed a member that code outside the change set can use.
    fn shows_renamed(&self, file: &File<'_>, unit: &Unit, uses: &[(String, String)]) -> bool {
        // Members that are units of their own are judged separately.
        let own = |name: &str| file.units.iter().any(|one| one.name == name);
        let shown = |old: &str, new: &str| {
            let member = member(&unit.tree, old);
            let used = |name: &str| self.used_elsewhere(file, unit, member, name);
            shows_member(file, unit, old) || used(old) || used(new)
        };
        let renamed = declared(&unit.tree, uses.to_vec());
        !unit.is_function() && renamed.iter().any(|(old, new)| !own(old) && shown(old, new))
    }

    pub(super) fn home(&self, old: Id, new: Id) -> bool {
        let (was, is) = (self.unit_before(old).1.container, self.unit_after(new).1.container);
        match (was, is) {
            (Some(was), Some(is)) => self.pairs.after_of.get(&(old.0, was)) == Some(&(new.0, is)),
            _ => true,
        }
    }

    /// Compares again with calls of helpers replaced by their bodies: new helpers in the new
    /// version, and removed helpers in the old one.
    fn through_helpers(
        &self,
        old: Id,
        new: Id,
        renames: &RenamedDeclarations,
    ) -> Option<UnitFindings> {
        let ((old_file, before), (_, after)) = (self.unit_before(old), self.unit_after(new));
        let language = old_file.language();
        let gone = reached(&self.before, &self.named.0, old, &self.gone);
        let come = reached(&self.after, &self.named.1, new, &self.new);
        let was = inline::inlined(&before.tree, language, &gone);
        let is = inline::inlined(&after.tree, language, &come);
        if was.used.is_empty() && is.used.is_empty() {
            return None;
        }
        let plain = |one: &Inlined| {
            Resolved::of_tree(&super::boolean::normal(&one.tree, language), language)
        };
        same::compare_trees(&plain(&was), &plain(&is), renames)?;
        let names = |used: &[Id], files: &[File<'_>]| -> Vec<String> {
            used.iter().map(|id| files[id.0].units[id.1].name.clone()).collect()
        };
        let mut said = Vec::new();
        if !is.used.is_empty() {
            said.push(format!("extract of {}", names(&is.used, &self.after).join(", ")));
        }
        if !was.used.is_empty() {
            said.push(format!("inline of {}", names(&was.used, &self.before).join(", ")));
        }
        Some(UnitFindings { extracted: is.used, inlined: was.used, ..UnitFindings::proven(said) })
    }

    fn added(&self, id: Id, extracted: &HashSet<Id>) -> UnitFindings {
        let (file, unit) = self.unit_after(id);
        if !extracted.contains(&id) {
            let is_api = is_public(file, unit) && unit.identity.is_some();
            let said = if is_api { "added (API)" } else { "added" };
            return UnitFindings::changed(vec![said.into()]);
        }
        let mut found = UnitFindings::proven(vec!["extracted".to_owned()]);
        if is_shown(file, unit) || unit.tree.is_a(Role::Export) {
            found.affects_others("API: a public name was added");
        }
        // A subclass may inherit the new name, or may already have it.
        let home = |file: &File<'_>, one: &Unit| (file.path.to_owned(), one.container);
        let is_taken = all_units(&self.after).any(|(_, other, one)| {
            one.is_function() && one.name == unit.name && home(other, one) != home(file, unit)
        });
        let is_declared = all_units(&self.before).any(|(_, _, one)| one.name == unit.name);
        let is_used = all_units(&self.before).any(|(_, _, one)| one.tree.mentions(&unit.name));
        let is_builtin = is_used && !is_declared;
        if is_taken || is_builtin || self.used_elsewhere(file, unit, None, &unit.name) {
            found.affects_others("something else has the name");
        }
        found
    }

    fn removed(&self, id: Id, inlined: &HashSet<Id>) -> UnitFindings {
        let (file, unit) = self.unit_before(id);
        if !inlined.contains(&id) {
            return UnitFindings::changed(vec!["removed".into()]);
        }
        let mut found = UnitFindings::proven(vec!["inlined".to_owned()]);
        if is_shown(file, unit) {
            found.affects_others("API: a public name is gone");
        }
        let is_left = all_units(&self.after).any(|(_, _, one)| one.tree.mentions(&unit.name));
        if is_left || self.used_elsewhere(file, unit, None, &unit.name) {
            found.affects_others("the name is still in use");
        }
        found
    }
}

fn is_shown(file: &File<'_>, helper: &Unit) -> bool {
    is_public(file, helper) && !matches!(file.language(), "python" | "c" | "javascript")
}

/// Returns true for the entry of a file that holds only imports besides its units. Then the units
/// show what happened, and the file itself has no statements to report.
fn is_empty_shell(files: &[File<'_>], id: Id) -> bool {
    let units = &files[id.0].units;
    id.1 == 0 && units.len() > 1 && units[0].tree.children.iter().all(is_import)
}

/// Returns the name of a file without its extensions.
fn file_stem(path: &str) -> &str {
    let name = file_name(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

fn module_name(path: &str) -> &str {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns true if each file is a module in this language, so that its path is part of every public
/// name.
fn by_module(language: &str) -> bool {
    !matches!(language, "go" | "java" | "c" | "cpp" | "csharp" | "swift" | "kotlin" | "scala")
}

/// Of the names that differ between two versions of a container, returns those that it declares.
fn declared(tree: &Tree, names: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_name = |node: &Tree| matches!(node.field, Some("name" | "declarator" | "property"));
    let fields = tree.children.iter().flat_map(|child| child.nodes_with(is_name));
    let fields: HashSet<&str> = fields.filter_map(|name| name.text.as_deref()).collect();
    names.into_iter().filter(|(old, _)| fields.contains(old.as_str())).collect()
}

fn reached<'h>(
    files: &[File<'_>],
    named: &FunctionsByName,
    caller: Id,
    helpers: &'h [(Id, Helper)],
) -> Vec<ReachableHelper<'h>> {
    let words: HashSet<&str> = files[caller.0].units[caller.1].tree.texts().into_iter().collect();
    let mentioned = helpers.iter().filter(|one| words.contains(&*one.1.name) || one.1.constructor);
    let reachable = mentioned.filter_map(|one| {
        let ways = call_targets::ways(files, named, caller, one)?;
        Some(ReachableHelper { id: one.0, helper: &one.1, ways })
    });
    reachable.collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn broken(file: &File<'_>, unit: &Unit) -> bool {
    file.program.as_ref().is_some_and(|program| match unit.identity {
        None => !program.errors.is_empty(),
        Some(_) => program.has_error_in(&unit.bytes),
    })
}

fn entry(
    (file, unit): (&File<'_>, &Unit),
    found: UnitFindings,
    broken: bool,
    after: Option<(String, std::ops::Range<usize>)>,
) -> BlockChange {
    let path = unit.identity.as_ref().map_or(file.path, |identity| &identity.path);
    BlockChange {
        identity: unit.identity.clone(),
        reason: format!("{} {path}: {}", unit.kind(), found.reasons.join(", ")),
        class: (!broken).then(|| class_if(found.unchanged)),
        after,
        contained: found.contained && found.unchanged,
    }
}

fn differences(alike: &Alike) -> Vec<String> {
    let list = |pairs: &[(String, String)]| -> String {
        pairs.iter().map(|(old, new)| format!("{old} → {new}")).collect::<Vec<_>>().join(", ")
    };
    let mut said = Vec::new();
    if !alike.locals.is_empty() {
        said.push(format!("rename of locals ({})", list(&alike.locals)));
    }
    if !alike.uses.is_empty() {
        said.push(format!("rename of declarations ({})", list(&alike.uses)));
    }
    said
}
