//! Real code is mutated by tools that know whether they change behaviour: a change of behaviour is hardly ever called a
//! refactoring.
//!
//! `INTENT_FUZZ_SEED` runs other cases, `INTENT_TEST_ALL` more of them, and `INTENT_FUZZ_RUNS` sets the number of
//! rounds.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::mutate::chance::from_environment;
use crate::mutate::corpus::{Sample, chosen, samples};
use crate::mutate::{Behaviour, Chance, KINDS, Step, World};
use crate::support::sample_or_all;
use ledger::MutationClass;
use provenance::classify::{self, Classification};

const SEED: u64 = 20_260_411;
const ROUNDS: u64 = 40;
/// With fewer rounds, chance decides whether the share of known refactorings reaches [`FLOOR`].
const SHORT: u64 = 10;
const CASES_OF_A_ROUND: usize = 16;
const FILES_OF_A_ROUND: usize = 3;
/// The largest share of behaviour changes that may be called a refactoring.
const LIES: f64 = 0.005;
/// The smallest share of refactorings that must be called one.
const FLOOR: f64 = 0.80;

/// The answers for the cases of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    refactor: usize,
    evolution: usize,
    unknown: usize,
}

/// The answers for all cases by behaviour and kind, and the wrong ones in full.
#[derive(Default)]
struct Report {
    tallies: BTreeMap<(Behaviour, &'static str), Tally>,
    lies: String,
    missed: Vec<String>,
}

impl Report {
    fn join(&mut self, other: Self) {
        for (key, tally) in other.tallies {
            let all = self.tallies.entry(key).or_default();
            all.refactor += tally.refactor;
            all.evolution += tally.evolution;
            all.unknown += tally.unknown;
        }
        self.lies += &other.lies;
        self.missed.extend(other.missed);
    }

    /// Returns how many cases of a behaviour there were, and how many of them were called a refactoring.
    fn of(&self, behaviour: Behaviour) -> (usize, usize) {
        let such = self.tallies.iter().filter(|((it, _), _)| *it == behaviour);
        such.fold((0, 0), |(all, refactor), (_, tally)| {
            let cases = tally.refactor + tally.evolution + tally.unknown;
            (all + cases, refactor + tally.refactor)
        })
    }

    fn table(&self) -> String {
        let mut text = String::new();
        for ((behaviour, kind), Tally { refactor, evolution, unknown }) in &self.tallies {
            writeln!(
                text,
                "{behaviour:8?} {kind:30} {refactor:>5} refactor {evolution:>5} evolution {unknown:>5} unknown"
            )
            .expect("a string");
        }
        text
    }
}

/// A few files, most of them with another file of the same language.
fn world(samples: &[Sample], chance: &mut Chance) -> World {
    let chosen = chosen(samples, FILES_OF_A_ROUND, chance);
    let file = |(at, sample): (usize, &Sample)| {
        Some((format!("src/part{at}/file.{}", sample.extension()), sample.text()?))
    };
    let files: Vec<(String, String)> = chosen.iter().enumerate().filter_map(file).collect();
    World::new(&files)
}

/// Classifies the change between two worlds; only files that differ are passed on.
fn classified(before: &World, after: &World) -> Classification {
    let text = |world: &World, path: &String| world.files.get(path).map(|it| it.text().to_owned());
    let mut paths: Vec<&String> = before.files.keys().chain(after.files.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| text(before, path) != text(after, path));
    fn side<'a>(paths: &[&'a String], world: &'a World) -> Vec<(&'a str, &'a str)> {
        let there =
            paths.iter().filter_map(|path| Some((path.as_str(), world.files.get(*path)?.text())));
        there.collect()
    }
    classify::change(&side(&paths, before), &side(&paths, after))
}

fn round(seed: u64, round: u64, samples: &[Sample]) -> Report {
    let mut chance = Chance::new(seed.wrapping_add(round.wrapping_mul(0x2545_f491_4f6c_dd1d)));
    let before = world(samples, &mut chance);
    let mut report = Report::default();
    for case in 0..CASES_OF_A_ROUND {
        let step = Step { kind: chance.below(KINDS.len()), seed: chance.draw() };
        let mut after = before.clone();
        let Some(behaviour) = step.apply(&mut after) else { continue };
        let said = classified(&before, &after);
        let tally = report.tallies.entry((behaviour, step.name())).or_default();
        let told = || {
            let place = format!("seed {seed}, round {round}, case {case}: {}", step.name());
            let reasons = said.reasons.iter().take(6).cloned().collect::<Vec<_>>().join("; ");
            format!("{place}: {reasons}\n{}", difference(&before, &after))
        };
        match said.class {
            Some(MutationClass::AstRefactor) => {
                tally.refactor += 1;
                if behaviour == Behaviour::Changed {
                    report.lies += &told();
                }
            }
            Some(_) => {
                tally.evolution += 1;
                if behaviour == Behaviour::Kept {
                    report.missed.push(told());
                }
            }
            None => tally.unknown += 1,
        }
    }
    report
}

/// Returns the first lines in which two worlds differ.
fn difference(before: &World, after: &World) -> String {
    let mut told = String::new();
    for (path, file) in &after.files {
        let then = before.files.get(path).map_or("", |then| then.text());
        let (old, new): (Vec<&str>, Vec<&str>) =
            (then.lines().collect(), file.text().lines().collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        if same < old.len().max(new.len()) {
            let some = |lines: &[&str]| {
                lines.iter().skip(same).take(3).copied().collect::<Vec<_>>().join("\n      ")
            };
            writeln!(told, "  {path}:{}\n    - {}\n    + {}", same + 1, some(&old), some(&new))
                .expect("a string");
        }
    }
    told
}

#[test]
#[ignore = "slow"]
fn a_change_of_behaviour_is_not_called_a_refactoring() {
    let seed = from_environment("INTENT_FUZZ_SEED", SEED);
    let rounds = from_environment("INTENT_FUZZ_RUNS", sample_or_all(SHORT, ROUNDS));
    let mut samples = samples();
    samples.retain(|sample| !["markdown", "json", "yaml", "toml"].contains(&sample.language));
    let half = |first: u64| {
        let mut report = Report::default();
        for at in (first..rounds).step_by(2) {
            report.join(round(seed, at, &samples));
        }
        report
    };
    let report = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut report = half(0);
        report.join(other.join().expect("the other half ends"));
        report
    });
    let (changed, lies) = report.of(Behaviour::Changed);
    let (kept, known) = report.of(Behaviour::Kept);
    let (lies, known) = (lies as f64 / changed.max(1) as f64, known as f64 / kept.max(1) as f64);
    let missed: String = report.missed.iter().take(8).map(String::as_str).collect();
    let told = format!(
        "{}\nnot seen as a refactoring:\n{missed}\n{}\nseed {seed}: {lies:.4} of {changed} changes called a refactoring, {known:.3} of {kept} refactorings known",
        report.lies,
        report.table()
    );
    println!("{told}");
    assert!(lies <= LIES && known >= FLOOR, "{told}");
    let rounds = usize::try_from(rounds).expect("few");
    assert!(2 * changed > 5 * rounds && 2 * kept > 3 * rounds, "{told}");
}
