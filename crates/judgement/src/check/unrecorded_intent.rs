//! Determines which intent answers for work that no record covers: the selection of a person or,
//! for a change that is to be merged, the intent that its commits or its branch name. This only
//! chooses the intent; it grants no permission.

use std::collections::{BTreeSet, HashMap, HashSet};

use globset::{GlobBuilder, GlobMatcher};

use super::{CheckRequest, ComparedSides, JudgedChange};
use ground::policy::{AuthorRule, SourceFormat};
use ground::{Git, RelativePath};
use intents::Intent;
use why::rules::Rules;
use why::{VerbError, Workspace};

/// The trailer that always names an intent, in addition to the trailers that the policy defines.
const TRAILER: &str = "Intent-Id";
/// The number of commits whose trailers are read at most.
const MAX_COMMITS: usize = 10_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct UnrecordedIntents {
    by_path: HashMap<RelativePath, Vec<String>>,
    /// Paths for which no record is required, because only authors changed them whom the policy
    /// exempts.
    unasked: HashSet<RelativePath>,
    otherwise: Vec<String>,
    /// The intents that other work of the change is bound to, by its records, by a trailer or by a
    /// selection. They answer for nothing, but a change that nobody answers for may not lie in a file
    /// that belongs to an intent outside of them.
    of_other_work: Vec<String>,
}

impl UnrecordedIntents {
    pub(crate) fn same_for_all_paths(intent: Option<String>) -> Self {
        Self { otherwise: intent.into_iter().collect(), ..Self::default() }
    }

    /// Determines the intents in this order: the intent that the request names; the person's
    /// selection, for changes that are in no commit; the trailers of the commits; the name of the
    /// branch; the person's selection, for commits of the same person alone.
    ///
    /// `here` is the work tree.
    pub(super) fn determined(
        here: &Workspace,
        request: &CheckRequest,
        judged: &JudgedChange,
        rules: &Rules,
    ) -> Result<Self, VerbError> {
        let ws = &judged.ws;
        if let Some(id) = &request.intent {
            let intent = rules.intent(id).map_or_else(|| ws.intent(id), Ok)?;
            return Ok(Self::same_for_all_paths(Some(intent.id.value.clone())));
        }
        let selected = here.selected(None);
        let (Some(git), Some(_)) = (ws.git(), &judged.tip) else {
            return Ok(Self::same_for_all_paths(selected));
        };
        let mut of_commits = of_commits(git, judged, rules)?;
        if let (Some(id), ComparedSides::Base(_)) = (selected, &request.against) {
            // A person's selection applies to the changes that are in no commit yet.
            let compared = ws.compared_with(judged.head.as_ref())?;
            let paths =
                compared.changes.iter().map(|change| &change.path).chain(&compared.nameless);
            of_commits.by_path.extend(paths.map(|path| (path.clone(), vec![id.clone()])));
            // A commit does not free the person's own work of it.
            if is_of_this_person(git, judged)? {
                of_commits.otherwise.push(id);
            }
        }
        for path in judged.uncommitted()?.unwrap_or_default() {
            of_commits.unasked.remove(&path);
        }
        if let Some(id) = of_branch(ws, request, rules) {
            of_commits.otherwise = vec![id];
        }
        Ok(of_commits)
    }

    /// Adds the intents that other work of the change is bound to: those of the records that answer for
    /// parts of it, and those that answer for another path.
    pub(super) fn with_other_work(
        self,
        ws: &Workspace,
        recorded: impl Iterator<Item = String>,
    ) -> Self {
        let recorded = recorded.filter(|id| ws.registry.get(id).is_some());
        let by_path = self.by_path.values().flatten().cloned();
        let all: BTreeSet<String> = recorded.chain(by_path).collect();
        Self { of_other_work: all.into_iter().collect(), ..self }
    }

    pub(crate) fn asks_for(&self, path: &RelativePath) -> bool {
        !self.unasked.contains(path)
    }

    /// Returns the intents that answer for work on a path. It is enough that one of them permits
    /// it.
    pub fn of_path(&self, path: &RelativePath) -> &[String] {
        self.by_path.get(path).unwrap_or(&self.otherwise)
    }

    pub(crate) fn of_other_work(&self, path: &RelativePath) -> &[String] {
        match self.of_path(path).is_empty() && self.asks_for(path) {
            true => &self.of_other_work,
            false => &[],
        }
    }
}

fn is_of_this_person(git: &Git, judged: &JudgedChange) -> Result<bool, VerbError> {
    let (Some(head), Some(address)) = (&judged.head, git.configured("user.email")) else {
        return Ok(false);
    };
    let end = format!("<{address}>");
    for commit in git.commits_between(&judged.known_commits(), head, MAX_COMMITS)? {
        if !git.author(&commit)?.ends_with(&end) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns, for each changed path, the intents that its commits name: by their trailers or, if
/// there are none, by the policy's rule for the author.
fn of_commits(
    git: &Git,
    judged: &JudgedChange,
    rules: &Rules,
) -> Result<UnrecordedIntents, VerbError> {
    let Some(head) = &judged.head else { return Ok(UnrecordedIntents::default()) };
    let templates =
        rules.accepted().policy.trailers.iter().filter_map(|template| template.split_once(':'));
    let named = templates.filter(|(_, value)| value.trim() == "{intent}").map(|(token, _)| token);
    let tokens: Vec<&str> = named.chain([TRAILER]).collect();
    let authors = authors(&rules.accepted().policy.authors);
    let mut bound = UnrecordedIntents::default();
    let mut asked: HashSet<RelativePath> = HashSet::new();
    for commit in git.commits_between(&judged.known_commits(), head, MAX_COMMITS)? {
        let trailers = git.trailers(&commit)?.into_iter();
        let named = trailers
            .filter(|(_, id)| !id.trim().is_empty())
            .filter(|(token, _)| tokens.iter().any(|known| known.eq_ignore_ascii_case(token)))
            .map(|(_, id)| id);
        let mut ids: Vec<String> = named.collect();
        let mut is_unasked = false;
        if ids.is_empty() && !authors.is_empty() {
            let author = git.author(&commit)?;
            if let Some((_, intent)) = authors.iter().find(|(glob, _)| glob.is_match(&author)) {
                ids.extend(intent.clone());
                is_unasked = intent.is_none();
            }
        }
        if ids.is_empty() && authors.is_empty() {
            continue;
        }
        for path in git.changed_by(&commit)? {
            let list = if is_unasked { &mut bound.unasked } else { &mut asked };
            list.insert(path.clone());
            if ids.is_empty() {
                continue;
            }
            let all = bound.by_path.entry(path).or_default();
            for id in &ids {
                let id = rules.intent(id).map_or(id, |intent| &intent.id.value);
                if !all.contains(id) {
                    all.push(id.clone());
                }
            }
        }
    }
    bound.unasked.retain(|path| !asked.contains(path));
    Ok(bound)
}

/// Compiles the policy's patterns for authors. Only `*` is a wildcard; brackets are literal,
/// because names of bots contain them, as in `dependabot[bot]`.
fn authors(rules: &[AuthorRule]) -> Vec<(GlobMatcher, Option<String>)> {
    let matcher = |rule: &AuthorRule| {
        let literal: Vec<String> = rule.author.split('*').map(globset::escape).collect();
        let glob = GlobBuilder::new(&literal.join("*")).case_insensitive(true).build().ok()?;
        Some((glob.compile_matcher(), rule.intent.clone()))
    };
    rules.iter().filter_map(matcher).collect()
}

/// Returns the intent that the name of the branch stands for, according to the patterns of the
/// accepted policy.
fn of_branch(ws: &Workspace, request: &CheckRequest, rules: &Rules) -> Option<String> {
    let patterns = &rules.accepted().policy.branches;
    if patterns.is_empty() {
        return None;
    }
    let named = match &request.against {
        ComparedSides::Range { to, .. } if to != "HEAD" => Some(to.clone()),
        _ => ws.git().and_then(|git| git.branch()),
    };
    let branch = request.branch.clone().or(named)?;
    let names = |intent: &&Intent| {
        // A colon cannot be in the name of a branch.
        let id = &intent.id.value;
        let id = SourceFormat::of_id(id).map_or(id.as_str(), |(_, name)| name);
        patterns.iter().any(|pattern| {
            let pattern = pattern.replace("{intent}", &globset::escape(id));
            let mut glob = GlobBuilder::new(&pattern);
            let glob = glob.literal_separator(true).case_insensitive(true).build();
            // For a remote branch such as `origin/int-1`, the name without the remote is matched
            // too.
            let there = branch.split_once('/').map_or(branch.as_str(), |(_, there)| there);
            glob.is_ok_and(|glob| {
                let glob = glob.compile_matcher();
                glob.is_match(&branch) || glob.is_match(there)
            })
        })
    };
    let all = [&rules.accepted().registry, &ws.registry];
    let found = all.iter().flat_map(|registry| registry.all_intents()).filter(names);
    let ids: BTreeSet<&String> = found.map(|intent| &intent.id.value).collect();
    // If the name fits several intents, it stands for none of them.
    let [only] = Vec::from_iter(ids)[..] else { return None };
    Some(only.clone())
}
