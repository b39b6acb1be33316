//! What work is bound to where no record says more: a person's selection, and where a change is to be merged, what is
//! named for it. It chooses which intent answers; it grants nothing.

use std::collections::{BTreeSet, HashMap, HashSet};

use globset::{GlobBuilder, GlobMatcher};

use super::{CheckRequest, ComparedSides, Ends};
use crate::intent::Intent;
use crate::verbs::judgement::Rules;
use crate::verbs::{VerbError, Workspace};
use crate::workspace::git::Target;
use crate::workspace::policy::AuthorRule;
use crate::workspace::{CommitId, Git, RelativePath};

/// The trailer that names an intent, whatever else the policy has commits say.
const TRAILER: &str = "Intent-Id";
/// The trailers of more commits than this are not read.
const MAX_COMMITS: usize = 10_000;

/// The intents that work is bound to, by path.
#[derive(Clone, Debug, Default)]
pub(in crate::verbs) struct Bound {
    /// By the trailers of the commits that changed the path.
    by_path: HashMap<RelativePath, Vec<String>>,
    /// What nobody asks for records of: only authors changed it of whom the policy says so.
    unasked: HashSet<RelativePath>,
    otherwise: Vec<String>,
}

impl Bound {
    /// To one intent, or to none.
    pub(crate) fn to(intent: Option<String>) -> Self {
        Self { otherwise: intent.into_iter().collect(), ..Self::default() }
    }

    /// What is named outright; else the person's selection, of what is in no commit; else the trailers of the commits;
    /// else the branch.
    ///
    /// `here` is the work tree, `ws` what is checked. `has_nameless`: a name in the change is not UTF-8.
    pub(super) fn of(
        (here, ws): (&Workspace, &Workspace),
        request: &CheckRequest,
        ends: &Ends,
        (rules, has_nameless): (&Rules, bool),
    ) -> Result<Self, VerbError> {
        if let Some(id) = &request.intent {
            return match rules.intent(id) {
                Some(intent) => Ok(Self::to(Some(intent.id.value.clone()))),
                None => ws.intent(id).map(|intent| Self::to(Some(intent.id.value.clone()))),
            };
        }
        let selected = here.selected(None);
        let (Some(git), Some(_)) = (ws.git(), &ends.tip) else { return Ok(Self::to(selected)) };
        let mut of_commits = of_commits(git, ends, (rules, has_nameless))?;
        if let (Some(id), ComparedSides::Base(_)) = (selected, &request.against) {
            // The person works on what is in no commit yet.
            let changes = git.all_changes(ends.head.as_ref(), &Target::WorkTree)?;
            let nameless = match has_nameless {
                true => git.nameless_changes(ends.head.as_ref(), &Target::WorkTree)?,
                false => BTreeSet::new(),
            };
            let paths = changes.into_iter().map(|change| change.path).chain(nameless);
            of_commits.by_path.extend(paths.map(|path| (path, vec![id.clone()])));
        }
        for path in ends.uncommitted(ws)?.unwrap_or_default() {
            of_commits.unasked.remove(&path);
        }
        Ok(Self { otherwise: of_branch(ws, request, rules).into_iter().collect(), ..of_commits })
    }

    /// Whether somebody asks for a record of what changed there.
    pub(crate) fn asks_for(&self, path: &RelativePath) -> bool {
        !self.unasked.contains(path)
    }

    /// The intents that work on a path is bound to. One that may do it is enough.
    pub(crate) fn of_path(&self, path: &RelativePath) -> &[String] {
        self.by_path.get(path).unwrap_or(&self.otherwise)
    }
}

/// The intents that commits name, by the paths that they changed: by their trailers, else by their authors.
fn of_commits(
    git: &Git,
    ends: &Ends,
    (rules, has_nameless): (&Rules, bool),
) -> Result<Bound, VerbError> {
    let Some(head) = &ends.head else { return Ok(Bound::default()) };
    let seen: Vec<&CommitId> = ends.bases.iter().chain(&ends.tip).collect();
    let templates =
        rules.accepted().policy.trailers.iter().filter_map(|template| template.split_once(':'));
    let named = templates.filter(|(_, value)| value.trim() == "{intent}").map(|(token, _)| token);
    let tokens: Vec<&str> = named.chain([TRAILER]).collect();
    let authors = authors(&rules.accepted().policy.authors);
    let mut bound = Bound::default();
    let mut asked: HashSet<RelativePath> = HashSet::new();
    for commit in git.commits_between(&seen, head, MAX_COMMITS)? {
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
        let mut brought = git.brought_by(&commit)?;
        if has_nameless {
            brought.extend(git.nameless_brought_by(&commit)?);
        }
        for path in brought {
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

/// The authors that a policy names, with their intents. Brackets stand for themselves, since names of bots have them.
fn authors(rules: &[AuthorRule]) -> Vec<(GlobMatcher, Option<String>)> {
    let matcher = |rule: &AuthorRule| {
        let literal: Vec<String> = rule.author.split('*').map(globset::escape).collect();
        let glob = GlobBuilder::new(&literal.join("*")).case_insensitive(true).build().ok()?;
        Some((glob.compile_matcher(), rule.intent.clone()))
    };
    rules.iter().filter_map(matcher).collect()
}

/// The intent that the name of the branch stands for, by a pattern of the accepted policy.
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
        let id = &intent.id.value;
        patterns.iter().any(|pattern| {
            let pattern = pattern.replace("{intent}", &globset::escape(id));
            let mut glob = GlobBuilder::new(&pattern);
            let glob = glob.literal_separator(true).case_insensitive(true).build();
            // Of a branch of a remote, the name that it has there.
            let there = branch.split_once('/').map_or(branch.as_str(), |(_, there)| there);
            glob.is_ok_and(|glob| {
                let glob = glob.compile_matcher();
                glob.is_match(&branch) || glob.is_match(there)
            })
        })
    };
    let all = [&rules.accepted().registry, &ws.registry];
    let found = all.iter().flat_map(|registry| registry.intents()).filter(names);
    let ids: BTreeSet<&String> = found.map(|intent| &intent.id.value).collect();
    // A name that stands for two intents names neither.
    let [only] = Vec::from_iter(ids)[..] else { return None };
    Some(only.clone())
}
