//! The page that `--report` draws, also in a real browser.

use std::path::Path;
use std::process::Command;

use crate::support::{Cmd, Folder, has_program, require};

/// A name that leaves an attribute, a title and an element, where it is not escaped.
const HOSTILE: &str = "\"'>&<script>console.error(1)<";

/// What chromium says on standard error of a page, and the document that it made of it.
fn browse(page: &Path, dark: bool) -> (String, String) {
    let profile = Folder::new();
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
    chromium.args(["--enable-logging=stderr", "--v=0", "--dump-dom"]);
    if dark {
        chromium.arg("--blink-settings=preferredColorScheme=0");
    }
    chromium.arg(format!("--user-data-dir={}", profile.path().display()));
    let output = chromium.arg(format!("file://{}", page.display())).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let [dom, log] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into());
    (dom, log)
}

#[test]
fn a_report_is_written_beside_the_result_and_is_whole() {
    let folder = Folder::in_memory();
    let (place, page) = (folder.with_dir("place"), folder.at("page.html"));
    let cmd = Cmd::check_json(&place).args("--iters 300 --workers 2 --report").arg(&page);
    let record = cmd.run().exits(4).json();
    assert!(record.get("samples").is_none(), "the result has no samples for it");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    for word in ["NOT DURABLE", "tmpfs", "Percentiles", "worker 1", "--workers 2", "600 pairs"] {
        assert!(html.contains(word), "{word}");
    }
}

#[test]
fn a_place_for_two_documents_is_refused_before_the_run() {
    let folder = Folder::in_memory();
    let page = folder.at("page.html");
    let cmd = || Cmd::check(folder.path()).arg("--report").arg(&page);
    cmd().arg("--save").arg(&page).run().exits(2).complains("the same file as --save");
    cmd().arg("--output").arg(&page).run().exits(2).complains("the same file as --output");
    Cmd::check(folder.path()).args("--report -").run().exits(2).complains("--report");
    let cmd = Cmd::check(folder.path()).arg("--report").arg(folder.at("none/page.html"));
    cmd.run().exits(3).complains("--report: write");
    assert!(!page.exists());
}

#[test]
fn a_browser_shows_it_without_a_word_of_complaint_whatever_the_path_is_called() {
    if !has_program("chromium") {
        return require("chromium", "no such program");
    }
    let folder = Folder::new();
    let (place, page) = (folder.with_dir(HOSTILE), folder.at("page.html"));
    let cmd = Cmd::check(&place).args("--iters 300 --workers 2 --report").arg(&page);
    assert!(matches!(cmd.run().code, Some(0 | 1 | 4)));
    for dark in [false, true] {
        let (dom, log) = browse(&page, dark);
        assert!(!log.contains("CONSOLE"), "{log}");
        assert!(!dom.contains("<script"), "the path became markup");
        assert!(dom.contains("&lt;script&gt;console") && dom.contains("Heat map"), "{dom}");
    }
    // What the browser would say is seen at all.
    let bad = folder.with_file("bad.html", "<script>console.error('heard')</script>");
    assert!(browse(&bad, false).1.contains("CONSOLE"), "the log does not tell of errors");
}
