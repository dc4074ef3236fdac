//! `--plot`: below the text, as wide as a terminal, in colour only where somebody sees it.

use crate::support::{Cmd, Folder, Terminal};

/// The sequences that begin a colour.
fn colours(text: &str) -> usize {
    text.matches("\x1b[3").count()
}

#[test]
fn the_plot_stands_below_the_text_in_lines_that_fit() {
    let folder = Folder::in_memory();
    let cmd = |more: &str| Cmd::check(folder.path()).args("--iters 300 --plot").args(more).run();
    let unicode = cmd("").exits(4);
    let text = unicode.stdout_text();
    assert!(text.find("verdict:") < text.find("barrier by percentile"), "{text}");
    assert!(text.contains("pairs by latency") && text.contains('█'), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(colours(text), 0, "{text}");
    let ascii = cmd("--ascii").exits(4);
    let plot = ascii.stdout_text();
    assert!(plot.contains("by percentile") && plot.is_ascii() && plot.contains('#'), "{plot}");
    Cmd::check(folder.path()).args("--ascii").run().exits(2).complains("--plot");
}

#[test]
fn a_result_for_a_program_has_no_plot() {
    let folder = Folder::in_memory();
    let out = folder.at("out.json");
    let cmd = Cmd::check_json(folder.path()).args("--iters 200 --plot --output").arg(&out);
    cmd.run().exits(2).complains("--plot");
    assert!(!out.exists());
}

#[test]
fn a_saved_record_and_what_others_measured_are_drawn_too() {
    let folder = Folder::in_memory();
    let (place, saved) = (folder.with_dir("place"), folder.at("run.json"));
    Cmd::check(&place).args("--iters 300 --quiet --save").arg(&saved).run().exits(4);
    for command in ["report", "judge"] {
        let outcome = Cmd::bare().arg(command).arg(&saved).arg("--plot").run();
        assert!(outcome.stdout_text().contains("pairs by latency"), "{}", outcome.all());
    }
    let lines = folder.with_file("probe.log", "fsync n=5000 p50=1.20ms p95=2ms p99=3ms max=9ms\n");
    let outcome = Cmd::bare().arg("judge").arg(&lines).arg("--plot").run();
    let text = outcome.stdout_text();
    assert!(text.contains("by percentile") && !text.contains("pairs by"), "{}", outcome.all());
}

#[test]
fn colours_are_for_a_terminal_that_has_them_and_a_person_who_wants_them() {
    let folder = Folder::in_memory();
    for (term, no_color, coloured) in
        [("xterm", "", true), ("xterm", "1", false), ("dumb", "", false), ("", "", false)]
    {
        let terminal = Terminal::new();
        let cmd = Cmd::check(folder.path()).args("--iters 300 --plot").stdout_to(terminal.end());
        cmd.env("TERM", term).env("NO_COLOR", no_color).run().exits(4);
        let text = terminal.written();
        assert!(text.contains("by percentile"), "{text}");
        assert_eq!(colours(&text) > 0, coloured, "TERM={term} NO_COLOR={no_color}: {text}");
    }
}
