//! The table of peers as text: figures, ratios within the rounds, and why a figure is missing.

use super::figures::Spread;
use super::output::Reading;

/// One program and one thing that it times.
#[derive(Clone, Debug)]
pub struct Row {
    /// The program, with what tells its runs apart.
    pub name: &'static str,
    /// What lies between its clock reads.
    pub times: &'static str,
    /// Of one write.
    pub block: &'static str,
    /// By round; nothing where the program was not there or failed.
    pub rounds: Vec<Option<Reading>>,
    /// The row of ours that does the same.
    pub against: Option<usize>,
    /// Why a figure is missing, and what else one must know.
    pub notes: Vec<String>,
}

type Pick = fn(&Reading) -> Option<f64>;

const P50_US: Pick = |reading| reading.p50_ns.map(|ns| ns / 1e3);
const P99_US: Pick = |reading| reading.p99_ns.map(|ns| ns / 1e3);
const RATE: Pick = |reading| Some(reading.ops_per_s);
const COLUMNS: usize = 100;

/// Everything, at most 100 columns wide.
pub fn text(rows: &[Row]) -> String {
    let notes = distinct_notes(rows);
    [figures(rows, &notes), ratios(rows), explained(&notes)].join("\n")
}

fn figures(rows: &[Row], notes: &[&str]) -> String {
    let line = |cells: [&str; 7]| {
        let [name, times, block, p50, p99, rate, notes] = cells;
        let line =
            format!("{name:<28} {times:<17} {block:<6} {p50:>9} {p99:>9} {rate:>8}  {notes}");
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line(["median of rounds", "times", "block", "p50 us", "p99 us", "ops/s", ""]);
    for row in rows {
        let median = |pick: Pick, digits: usize| {
            let values = row.rounds.iter().filter_map(|round| pick(round.as_ref()?));
            spread(values).map_or("-".to_owned(), |spread| format!("{:.digits$}", spread.median))
        };
        let [p50, p99, rate] = [median(P50_US, 1), median(P99_US, 1), median(RATE, 0)];
        text += &line([row.name, row.times, row.block, &p50, &p99, &rate, &marks(row, notes)]);
    }
    text
}

fn ratios(rows: &[Row]) -> String {
    let line = |name: &str, [p50, p99, rate]: [&str; 3]| {
        let line = format!("{name:<37} {p50:<20} {p99:<20} {rate}");
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line("peer / synctail, median [quartiles]", ["p50", "p99", "ops/s"]);
    for row in rows {
        let Some(ours) = row.against.and_then(|index| rows.get(index)) else { continue };
        let ratio = |pick: Pick| {
            let rounds = row.rounds.iter().zip(&ours.rounds);
            let both = rounds
                .filter_map(|(peer, ours)| Some(pick(peer.as_ref()?)? / pick(ours.as_ref()?)?));
            spread(both).map_or("-".to_owned(), |spread| format!("{spread:.2}"))
        };
        let [p50, p99, rate] = [ratio(P50_US), ratio(P99_US), ratio(RATE)];
        text += &line(row.name, [&p50, &p99, &rate]);
    }
    text
}

/// Nothing of no values at all.
fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    (!values.is_empty()).then(|| Spread::of(values))
}

fn distinct_notes(rows: &[Row]) -> Vec<&str> {
    let mut notes: Vec<&str> = Vec::new();
    for note in rows.iter().flat_map(|row| &row.notes) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}

/// The numbers of a row's notes.
fn marks(row: &Row, notes: &[&str]) -> String {
    let number = |note: &String| notes.iter().position(|known| known == note).map(|at| at + 1);
    let numbers = row.notes.iter().filter_map(number).map(|number| number.to_string());
    numbers.collect::<Vec<_>>().join(",")
}

fn explained(notes: &[&str]) -> String {
    let numbered = notes.iter().enumerate();
    numbered.map(|(index, note)| folded(&format!("{:<2}", index + 1), note)).collect()
}

/// A note below its number, words never torn.
fn folded(number: &str, note: &str) -> String {
    let mut text = String::new();
    let mut line = number.to_owned();
    for word in note.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COLUMNS {
            text += &(line + "\n");
            line = "  ".to_owned();
        }
        line += &format!(" {word}");
    }
    text + &line + "\n"
}
