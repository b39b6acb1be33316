//! Redirections: files that are written, and text that becomes a command's input.
//!
//! - `cat a > b` writes `b`. Nobody sees the output of `cat`, so its call is marked as hidden.
//! - `cat a 2> log` writes `log`, and the output stays visible.
//! - `ls > /dev/null` writes no file and is a read, but its output is hidden too.
//! - `cat < a` reads `a`, and its content becomes the input.
//! - `echo x > "$f"`, if `f` is not known, writes a path that is not known.

use super::argument::Arg;
use super::finding::StreamData;
use super::parse::{Direction, Redirect};
use super::paths::is_socket;
use super::simulation::Shell;
use super::state::NAMED_DESCRIPTOR;
use super::{PathEffect, judge, places};

pub(super) enum Redirected {
    In(StreamData),
    /// The output goes to a file or another machine, and not to the next command: `>file`.
    Away,
    /// Leaves the input and the output unchanged: `2>&1`, `2>file`.
    Nothing,
}

impl Shell {
    pub(super) fn redirect(&mut self, redirect: &Redirect) -> Redirected {
        if redirect.named {
            self.note_unfollowed("{");
        }
        match redirect.direction {
            Direction::Document => {
                let pieces = redirect.body.get().map(|body| self.value(body)).unwrap_or_default();
                Redirected::In(StreamData::with_known_pieces(pieces))
            }
            Direction::Here => {
                Redirected::In(StreamData::with_known_pieces(self.value(&redirect.target)))
            }
            Direction::Read => {
                let arg = self.single(&redirect.target);
                if self.output_of_substitution(&arg).is_none() {
                    self.touch(&arg, PathEffect::Read);
                }
                let feed = self.content_of(&arg);
                let path = places::located_path(self, &arg).path;
                let tainted = judge::is_secret(&path) || self.lasting.secrets.contains(&path);
                let download = is_socket(&path) || judge::is_downloaded_here(self, &arg);
                let path = Some(path);
                let file = StreamData {
                    file: true,
                    path,
                    tainted,
                    download,
                    ..StreamData::with_unknown_content()
                };
                Redirected::In(feed.unwrap_or(file))
            }
            Direction::Duplicate => {
                let arg = self.single(&redirect.target);
                let digits = arg.text.trim_end_matches('-').parse::<u32>().ok();
                if let Some(number) = digits {
                    return self.redirected_to_number(number, redirect.reads);
                }
                // `<&$fd` after `exec {fd}<FILE`.
                let named = self.lasting.descriptors.get(&NAMED_DESCRIPTOR);
                if let Some(feed) = named.filter(|_| redirect.reads && arg.literal().is_none()) {
                    return Redirected::In(feed.clone());
                }
                self.redirected_to_file(redirect, &arg, Direction::Write)
            }
            direction => {
                let mut args = self.fields(&redirect.target);
                let only = args.pop().filter(|_| args.is_empty());
                let arg = only.unwrap_or_else(|| self.single(&redirect.target));
                self.redirected_to_file(redirect, &arg, direction)
            }
        }
    }

    /// Handles `<&N` and `>&N`: the data that was opened under this number, or a connection to
    /// another machine.
    fn redirected_to_number(&mut self, number: u32, reads: bool) -> Redirected {
        let far = self.lasting.sockets.contains(&number);
        if far && !reads {
            self.redirected_to = Some("/dev/tcp/".to_owned());
            return Redirected::Away;
        }
        let feed = match far {
            true => Some(StreamData { download: true, ..StreamData::with_unknown_content() }),
            false => self.lasting.descriptors.get(&number).cloned(),
        };
        feed.filter(|_| reads).map_or(Redirected::Nothing, Redirected::In)
    }

    fn redirected_to_file(
        &mut self,
        redirect: &Redirect,
        arg: &Arg,
        direction: Direction,
    ) -> Redirected {
        let mut to = None;
        if self.output_of_substitution(arg).is_none() {
            to = arg.literal().map(|_| places::located_path(self, arg).path);
            let found = judge::judged_redirection(self, arg, direction == Direction::Append);
            found.into_iter().for_each(|found| self.note(found));
        }
        // `2>file` and `<>file` leave the output to the next command.
        if !redirect.output && !to.as_deref().is_some_and(is_socket) {
            return Redirected::Nothing;
        }
        self.redirected_to = to;
        Redirected::Away
    }
}
