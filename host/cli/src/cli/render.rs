//! What people see. Data goes to standard output, everything else to standard error; nothing that came from a script
//! reaches a terminal before its control characters are made visible.

use super::environment;
use super::failure::{Failure, Problem};
use callcell::compiler::Diagnostic;
use callcell::runtime::{Limits, LogLevel, Logs, Thrown, Usage, clean, is_unsafe};
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _, stderr, stdout};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const PLAIN: Style = Style::new();

/// Where output goes.
pub struct Terminal {
    /// Whether standard output is looked at by a person.
    shows_data: bool,
    /// Whether standard error is.
    shows_messages: bool,
    color: bool,
}

impl Terminal {
    pub fn new() -> Self {
        let shows_messages = stderr().is_terminal();
        Self {
            shows_data: stdout().is_terminal(),
            shows_messages,
            color: shows_messages && environment::allows_color(),
        }
    }

    /// One JSON value, compact, and a new line on standard output.
    pub fn json(&self, value: &impl Serialize) -> Result<(), Problem> {
        let text = serde_json::to_string(value).map_err(|error| Problem::Output(error.into()))?;
        self.data(&if self.shows_data { escape_json(&text) } else { text })
    }

    /// Text and a new line on standard output.
    pub fn data(&self, text: &str) -> Result<(), Problem> {
        let mut output = stdout().lock();
        writeln!(output, "{text}").and_then(|()| output.flush()).map_err(Problem::Output)
    }

    /// Text of our own, already clean, on standard error. That somebody closed it is no reason to fail.
    fn message(&self, text: &str) {
        let _ = writeln!(stderr().lock(), "{text}");
    }

    fn labelled(&self, label: &str, style: Style, text: &str) {
        let style = if self.color { style } else { PLAIN };
        self.message(&format!("{style}{label}:{style:#} {}", clean(text)));
    }

    pub fn plain(&self, text: &str) {
        self.message(&clean(text));
    }

    pub fn error(&self, text: &str) {
        self.labelled("error", ERROR, text);
    }

    pub fn warning(&self, text: &str) {
        self.labelled("warning", WARNING, text);
    }

    pub fn note(&self, text: &str) {
        self.labelled("note", HINT, text);
    }

    /// A failure: its diagnostics, its sentence, its hint.
    pub fn failure(&self, failure: &Failure) {
        if failure.exit == super::exit::Exit::Ok {
            return;
        }
        self.diagnostics(&failure.diagnostics);
        self.labelled("error", ERROR, &format!("{} [{}]", failure.message, failure.code));
        if let Some(Thrown { name, message, stack }) = &failure.thrown {
            let lines = [format!("{name}: {message}")].into_iter().chain(stack.lines().map(str::to_owned));
            lines.for_each(|line| self.labelled("thrown", PLAIN, &line));
        }
        if let Some(hint) = &failure.hint {
            self.labelled("hint", HINT, hint);
        }
    }

    /// A project's problems, with code frames.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics.iter().take(MAX_FRAMES) {
            self.message(diagnostic.render(self.color).trim_end());
        }
        if let Some(more) = diagnostics.len().checked_sub(MAX_FRAMES).filter(|more| *more > 0) {
            self.note(&format!("{more} more; `--json` lists all"));
        }
    }

    /// What a script wrote to `console`. Each line has a prefix, so that it cannot pass for a line of ours.
    pub fn logs(&self, logs: &Logs) {
        for line in &logs.lines {
            let label = match line.level {
                LogLevel::Log => "console.log",
                LogLevel::Info => "console.info",
                LogLevel::Warn => "console.warn",
                LogLevel::Error => "console.error",
                LogLevel::Debug => "console.debug",
            };
            line.text.split('\n').for_each(|text| self.labelled(label, PLAIN, text));
        }
        if logs.truncated {
            self.note("the script wrote more to `console` than is kept");
        }
    }

    /// What a call cost, each figure beside its limit.
    pub fn usage(&self, usage: &Usage, limits: &Limits) {
        let rows = [
            ("fuel", count(usage.fuel), count(limits.fuel)),
            ("peak memory", bytes(usage.peak_memory_bytes), bytes(limits.memory_bytes as u64)),
            ("wall time", time(usage.wall), time(limits.time)),
            ("bytes in", bytes(usage.argument_bytes), bytes(limits.argument_bytes as u64)),
            ("bytes out", bytes(usage.result_bytes), bytes(limits.result_bytes as u64)),
        ];
        let header = ("", "used".to_owned(), "limit".to_owned());
        let table = [header].iter().chain(&rows).fold(String::new(), |mut table, (name, used, limit)| {
            let _ = writeln!(table, "{name:<11}  {used:>14}  {limit:>14}");
            table
        });
        self.message(table.trim_end());
        if usage.clock_used {
            self.note("the callback read the clock; `--clock` fixes it");
        }
        if usage.random_used {
            self.note("the callback used `Math.random`; `--seed` fixes it");
        }
    }

    /// Text on standard output that may hold anything: its lines are cleaned.
    pub fn page(&self, text: &str) -> Result<(), Problem> {
        self.data(&text.lines().map(clean).collect::<Vec<_>>().join("\n"))
    }

    /// Columns of the terminal on standard output; none if nobody looks at it.
    pub fn width(&self) -> Option<u16> {
        self.shows_data.then(|| console::Term::stdout().size_checked().map_or(80, |(_, columns)| columns))
    }

    /// A bar for work of so many steps, for a person to look at.
    pub fn progress(&self, steps: usize) -> ProgressBar {
        if !self.shows_messages {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(steps as u64);
        match ProgressStyle::with_template("{bar:30} {human_pos}/{human_len} {msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// Counts what cannot be known beforehand.
    pub fn counting(&self, what: &'static str) -> ProgressBar {
        if !self.shows_messages {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new_spinner().with_message(what);
        match ProgressStyle::with_template("{spinner} {human_pos} {msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// Says, if it takes long enough for a person to wonder, what is being waited for. Ends when it is dropped.
    pub fn spinner(&self, text: &'static str) -> Spinner {
        let (done, wait) = mpsc::channel::<()>();
        let thread = self.shows_messages.then(|| {
            std::thread::Builder::new().spawn(move || {
                if wait.recv_timeout(SPINNER_DELAY) == Err(RecvTimeoutError::Timeout) {
                    let style = ProgressStyle::with_template("{spinner} {msg}");
                    let bar = ProgressBar::new_spinner().with_message(text);
                    let bar = if let Ok(style) = style { bar.with_style(style) } else { bar };
                    bar.enable_steady_tick(SPINNER_STEP);
                    let _ = wait.recv();
                    bar.finish_and_clear();
                }
            })
        });
        Spinner { done: Some(done), thread: thread.and_then(Result::ok) }
    }
}

/// Code frames that are shown; nobody reads more at once.
const MAX_FRAMES: usize = 50;

/// Loading a cached engine takes milliseconds and shows nothing.
const SPINNER_DELAY: Duration = Duration::from_millis(200);
const SPINNER_STEP: Duration = Duration::from_millis(100);

/// See [`Terminal::spinner`].
pub struct Spinner {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The same JSON with unsafe characters as `\uXXXX`. Outside its strings JSON has none.
fn escape_json(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut json, character| {
        if is_unsafe(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(json, "\\u{unit:04x}");
            }
        } else {
            json.push(character);
        }
        json
    })
}

/// The first characters of a text.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `1 callback`, `2 callbacks`.
pub fn plural(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    digits.char_indices().fold(String::new(), |mut text, (index, digit)| {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
        text
    })
}

/// `13 B`, `1.5 KiB`, `64 MiB`.
pub fn bytes(number: u64) -> String {
    let (unit, name) = match number {
        0..1_024 => return format!("{number} B"),
        1_024..1_048_576 => (1_024.0, "KiB"),
        _ => (1_048_576.0, "MiB"),
    };
    format!("{} {name}", rounded(number as f64 / unit))
}

/// `850 µs`, `1.5 ms`, `2 s`.
pub fn time(duration: Duration) -> String {
    match duration.as_micros() {
        micros @ 0..1_000 => format!("{micros} µs"),
        micros @ 1_000..1_000_000 => format!("{} ms", rounded(micros as f64 / 1e3)),
        micros => format!("{} s", rounded(micros as f64 / 1e6)),
    }
}

/// Two digits after the point, and none where they say nothing.
fn rounded(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_is_the_same_value() {
        let value = serde_json::json!({ "\u{202e}": ["\u{9b}", "\u{e0041}", "\u{1b}", "ok"] });
        let escaped = escape_json(&value.to_string());
        assert!(escaped.is_ascii());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn figures_are_for_people() {
        assert_eq!([0, 999, 1000, 20_000_000_000].map(count), ["0", "999", "1,000", "20,000,000,000"]);
        assert_eq!([13, 1536, 262_144, 67_108_864].map(bytes), ["13 B", "1.5 KiB", "256 KiB", "64 MiB"]);
        assert_eq!([850, 1500, 2_000_000].map(|it| time(Duration::from_micros(it))), ["850 µs", "1.5 ms", "2 s"]);
    }
}
