//! The bar: every fake caught, no honest run accused, with and without other load on the disk. Takes
//! minutes: `make soak`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::preloaded::{eatmydata, own_swallower};
use super::swallowed::{NOBARRIER, WithoutCache};
use crate::support::{Cmd, Filesystem, Folder, Make, heavy, require};

/// Whether there is time for minutes.
fn is_soak() -> bool {
    let soak = std::env::var_os("SYNCTAIL_SOAK").is_some();
    if !soak {
        require("soak", "SYNCTAIL_SOAK is not set; make soak sets it");
    }
    soak
}

const ROUNDS: usize = 10;

fn durability(cmd: Cmd) -> String {
    let outcome = cmd.args("--iters 120").run();
    let record: Value = outcome.json();
    record["verdict"]["durability"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", outcome.all()))
        .to_owned()
}

/// Runs `body` while another thread syncs a file in `place` again and again, if `busy`.
fn beside<T>(place: &Path, busy: bool, body: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(!busy);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let file = fs::File::create(place.join("busy")).unwrap();
                std::io::Write::write_all(&mut &file, &[7; 4_096]).unwrap();
                file.sync_all().unwrap();
            }
        });
        let result = body();
        over.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn no_honest_run_is_accused() {
    if !is_soak() {
        return;
    }
    let _heavy = heavy();
    let mut accused = 0;
    let mut runs = 0;
    for make in [Make::EXT4, Make::XFS, Make::BTRFS] {
        let Some(fs) = Filesystem::new(make) else { return };
        for round in 0..2 * ROUNDS {
            let busy = round % 2 == 1;
            let found = beside(fs.path(), busy, || durability(Cmd::check_json(fs.path())));
            runs += 1;
            accused += usize::from(found == "not_durable");
        }
    }
    eprintln!("honest runs accused: {accused} of {runs}");
    assert_eq!((accused, runs), (0, 6 * ROUNDS));
}

#[test]
fn every_fake_is_caught() {
    if !is_soak() {
        return;
    }
    let _heavy = heavy();
    let folder = Folder::new();
    let (Some(eatmydata), Some(own)) = (eatmydata(), own_swallower(&folder)) else { return };
    let place = folder.with_dir("place");
    let Some(nobarrier) = Filesystem::new(NOBARRIER) else { return };
    let Some(cacheless) = Filesystem::new(Make::EXT4_WITHOUT_JOURNAL) else { return };
    let _cache = WithoutCache::of(&cacheless.device_name());
    let mut caught = 0;
    let mut runs = 0;
    for round in 0..ROUNDS / 2 {
        let busy = round % 2 == 1;
        let preload =
            |library: &Path| Cmd::check_json(&place).env("LD_PRELOAD", library.to_str().unwrap());
        let fakes = [
            preload(&eatmydata),
            preload(&own),
            Cmd::check_json(nobarrier.path()),
            Cmd::check_json(cacheless.path()),
        ];
        for fake in fakes {
            // The load flushes the disk below all of them.
            let found = beside(&place, busy, || durability(fake));
            runs += 1;
            caught += usize::from(found == "not_durable");
            eprintln!("fake {runs}, busy {busy}: {found}");
        }
    }
    eprintln!("fakes caught: {caught} of {runs}");
    assert_eq!(caught, runs);
}
