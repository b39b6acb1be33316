//! Judges the cmdlets of PowerShell and the builtins of `cmd.exe`.

use super::{
    Arg, PathEffect, ProgramCall, Shell, ShellFinding, StreamData, WordOrigin, destructive,
    destructive_rule, downloaded, has_row, inspects, judged_redirection, opaque, reads, remove,
    table, unreadable_rule, writes,
};
use crate::table::{TableRow, holds, list};
use crate::{Dialect, paths};

/// Judges a command in a text for a POSIX shell if its name looks like that of a cmdlet:
/// `Remove-Item`.
pub(super) fn cmdlet_finding(shell: &mut Shell, call: &ProgramCall) -> Option<ShellFinding> {
    let capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    let (verb, noun) = call.name.split_once('-')?;
    let lower = call.name.to_ascii_lowercase();
    let cmdlet = WindowsCall::new(Dialect::PowerShell, &lower, call.args);
    if capital(verb) && capital(noun) { cmdlet.judged_cmdlet(shell, call.stdin) } else { None }
}

/// A call of a PowerShell cmdlet or a `cmd` builtin, with its words sorted into switches,
/// parameters with values, and operands.
pub(crate) struct WindowsCall<'c> {
    pub(crate) name: &'c str,
    dialect: Dialect,
    row: Option<&'static TableRow>,
    flags: Vec<String>,
    values: Vec<(String, Arg)>,
    operands: Vec<Arg>,
}

impl<'c> WindowsCall<'c> {
    pub(crate) fn new(dialect: Dialect, name: &'c str, words: &[Arg]) -> Self {
        let powershell = dialect == Dialect::PowerShell;
        let name = name.rsplit('/').next().filter(|_| powershell).unwrap_or(name);
        let mut aliases = list("psaliases").into_iter().filter_map(|alias| alias.split_once('='));
        let full = aliases.find(|(alias, _)| powershell && *alias == name);
        let name = full.map_or(name, |(_, full)| full);
        let language = if dialect == Dialect::Cmd { "cmd" } else { "ps" };
        let row = table::rows(&format!("{language}:{name}")).first();
        let (flags, values, operands) = (Vec::new(), Vec::new(), Vec::new());
        let mut call = Self { name, dialect, row, flags, values, operands };
        let mut last: Option<String> = None;
        for word in words {
            // Switches of `cmd` may be joined: `/s/q`. A longer word that begins with `/` is a
            // path.
            let switch = match dialect {
                Dialect::Cmd => word.text.strip_prefix('/').filter(|flag| flag.len() < 6),
                _ => word.text.strip_prefix('-').filter(|_| word.sure),
            };
            let letter = |flag: &&str| flag.starts_with(|c: char| c.is_ascii_alphabetic());
            match (switch.filter(letter), last.take()) {
                (Some(flag), _) => last = call.switched(&flag.to_ascii_lowercase()),
                (None, Some(name)) => call.values.push((name, word.clone())),
                (None, None) => call.operands.push(word.clone()),
            }
        }
        call
    }

    /// Adds a switch. Returns its name if the next word is its value.
    fn switched(&mut self, flag: &str) -> Option<String> {
        let (flag, value) = flag.split_once(':').unwrap_or((flag, ""));
        if value != "$false" {
            self.flags.extend(flag.split('/').map(str::to_owned));
        }
        let switch = |known: &&str| known.starts_with(flag) && flag.len() > 2 || *known == flag;
        let alone = self.dialect == Dialect::Cmd || list("psswitches").iter().any(switch);
        (!alone && value.is_empty()).then(|| flag.to_owned())
    }

    fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| !flag.is_empty() && name.starts_with(flag.as_str()))
    }

    fn value(&self, names: &[&str]) -> Vec<Arg> {
        let fits = |given: &str| names.iter().any(|name| name.starts_with(given));
        self.values.iter().filter(|(name, _)| fits(name)).map(|(_, arg)| arg.clone()).collect()
    }

    /// Returns the paths that the command works on: the values of `-Path` and `-LiteralPath`, and
    /// the operands.
    fn paths(&self) -> Vec<Arg> {
        let named = self.value(&["path", "literalpath", "filepath", "pspath", "lp"]);
        [named, self.operands.clone()].concat()
    }

    /// Judges the call. Returns `None` if neither a row nor the form of its name determines what it
    /// does.
    pub(crate) fn judged_cmdlet(
        &self,
        shell: &mut Shell,
        before: &StreamData,
    ) -> Option<ShellFinding> {
        let name = self.name;
        if self.has_flag("whatif") && name.contains('-') {
            return Some(reads(name));
        }
        let Some(row) = self.row else { return self.by_name(shell, before) };
        Some(match (row.kind(), row.word(1)) {
            ("destroys", "processes") if !self.has_flag("name") && !before.present => {
                opaque("kill", name)
            }
            ("destroys", rule) => destructive(rule, name, row.reason()),
            ("reads", _) => {
                self.read(shell, row);
                reads(name)
            }
            ("writes", manner) => self.judged_writes(shell, manner),
            (_, rule @ ("rm.file" | "rmdir")) => self.judged_removal(shell, rule, before),
            (_, rule) => opaque(rule, name),
        })
    }

    fn read(&self, shell: &mut Shell, row: &TableRow) {
        let paths = self.paths();
        if row.text("shows") == "all" {
            paths.iter().for_each(|file| shell.touch(file, PathEffect::Read));
        }
        if let Some(folder) = paths.first().filter(|_| holds("windowsfolders", self.name)) {
            let there = folder.literal().and_then(|to| paths::resolved_in(shell.cwd(), to));
            shell.state.cwd = there;
        }
    }

    /// Judges cmdlets that start a program or have no row. The latter are judged by their verb.
    fn by_name(&self, shell: &mut Shell, before: &StreamData) -> Option<ShellFinding> {
        let name = self.name;
        match name {
            "invoke-expression" | "start-process" | "invoke-command" => {
                return Some(self.code(shell, before));
            }
            "invoke-webrequest" | "invoke-restmethod" => {
                let methods = self.value(&["method"]);
                if methods.iter().any(|method| method.text.eq_ignore_ascii_case("delete")) {
                    return Some(destructive_rule("http.delete", name));
                }
                self.value(&["outfile"])
                    .iter()
                    .for_each(|file| shell.touch(file, PathEffect::Write));
                return Some(opaque("network", name));
            }
            _ => {}
        }
        let (verb, noun) = name.split_once('-').filter(|_| self.dialect == Dialect::PowerShell)?;
        if verb.is_empty() || noun.is_empty() || name.contains('.') || has_row(name) {
            return None;
        }
        Some(match (holds("psremoves", verb), holds("pslooks", verb)) {
            (true, _) => destructive_rule("powershell.remove", name),
            (_, true) => inspects(name),
            _ => opaque("program.unknown", name),
        })
    }

    fn judged_removal(&self, shell: &mut Shell, rule: &str, before: &StreamData) -> ShellFinding {
        let whole = |flag: &String| {
            "recurse".starts_with(flag.as_str()) || ["s", "rf", "fr"].contains(&flag.as_str())
        };
        let deep = self.flags.iter().any(whole);
        let mut named = self.paths();
        if named.is_empty() && before.present {
            named.push(Arg::unknown("(input)", WordOrigin::Output));
        }
        let mut worst = writes("rm.file", self.name);
        for path in &named {
            let lower = path.text.to_ascii_lowercase();
            worst.raise(match lower.split_once(':').map_or("", |(drive, _)| drive) {
                "env" | "variable" | "function" | "alias" => opaque("variable.steers", &path.text),
                "hklm" | "hkcu" | "hkcr" | "registry" | "cert" => {
                    destructive_rule("windows.registry", &path.text)
                }
                // `rd` without `/s` fails for a folder that is not empty.
                _ if rule == "rmdir" && !deep => {
                    shell.touch(path, PathEffect::Delete);
                    writes("rm.file", self.name)
                }
                _ => remove::judge_deletion(shell, path, deep),
            });
        }
        worst
    }

    /// Judges code, or a program with its arguments: `iex 'CODE'`, `Start-Process NAME
    /// -ArgumentList …`.
    fn code(&self, shell: &mut Shell, before: &StreamData) -> ShellFinding {
        let evaluates = self.name == "invoke-expression";
        if evaluates && before.download {
            return downloaded("Invoke-Expression");
        }
        let named = self.value(&["command", "filepath"]);
        let lists = self.value(&["argumentlist", "args"]);
        let words = [named, self.operands.clone(), lists].concat();
        if evaluates && !words.first().is_some_and(|code| code.sure) {
            return unreadable_rule("code.unknown", "Invoke-Expression");
        }
        if !evaluates {
            shell.out.background = true;
        }
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let found =
            shell.in_process(self.name, |shell| shell.windows_text(&text, Dialect::PowerShell));
        let own = opaque("code.powershell", self.name);
        if evaluates { found.unwrap_or(own) } else { own.most_severe(found) }
    }

    /// Judges the files that are written: the first operand, all of them, or the last one for
    /// commands that copy or move.
    fn judged_writes(&self, shell: &mut Shell, manner: &str) -> ShellFinding {
        let mut from = self.paths();
        let mut to = self.value(&["destination", "destinationpath", "newname"]);
        match manner {
            "last" if to.is_empty() => to.extend(from.pop()),
            "last" => {}
            "first" => to.extend(from.drain(..).take(1)),
            _ => to.append(&mut from),
        }
        let moves = holds("windowsmoves", self.name);
        let effect = if moves { PathEffect::MoveFrom } else { PathEffect::Read };
        from.iter().for_each(|path| shell.touch(path, effect));
        let mut worst = writes("program.writes", self.name);
        worst.raise_all(to.iter().map(|file| judged_redirection(shell, file, true)));
        worst
    }
}
