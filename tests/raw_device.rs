//! Raw block devices: measured where they may go, refused by name where anything speaks for them.

use std::ffi::OsStr;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::support::{
    Cmd, Folder, Image, LoopDevice, Mount, Outcome, has_program, is_root, require, rings_are_used,
    system, system_line,
};

const MEBIBYTES: u64 = 64;

/// An empty loop device, where there may be one.
fn device(folder: &Folder) -> Option<LoopDevice> {
    if !is_root() {
        return None;
    }
    if !has_program("losetup") || !Path::new("/dev/loop-control").exists() {
        require("loop", "no loop devices here");
        return None;
    }
    Some(LoopDevice::over(Image::sparse(folder.path(), MEBIBYTES), 512))
}

fn check(device: &Path) -> Cmd {
    Cmd::bare().args("check --format json --destroy-data --device").arg(device)
}

fn refused(outcome: Outcome, why: &str) {
    let record = outcome.exits(3).failure();
    let error = &record["error"];
    assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    assert!(error["remedy"].is_string(), "{error}");
}

fn start_of(device: &Path) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    std::fs::File::open(device).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn every_kind_of_arm_overwrites_its_own_area_of_the_device() {
    let folder = Folder::new();
    let Some(device) = device(&folder) else { return };
    let _rings = rings_are_used();
    for arm in ["syscall/fdatasync", "syscall/o_dsync+direct", "uring-linked/fdatasync+direct"] {
        let cmd = check(device.node()).args("--iters 40 --workers 3 --file-size 64KiB --arm");
        let outcome = cmd.arg(arm).run();
        let record = outcome.json();
        assert_eq!(record["status"], "complete", "{arm}: {}", outcome.all());
        assert_eq!(record["counters"]["pairs"], 120, "{arm}");
        assert_eq!(record["plan"]["layout"], "overwrite");
        assert_eq!(record["plan"]["path"], device.node().to_str().unwrap());
        assert_eq!(record["substrate"]["filesystem"], "raw device");
        let name = device.node().file_name().unwrap().to_str().unwrap();
        assert_eq!(record["substrate"]["block"][0]["name"], name);
        assert!(record["proof"]["libc_barriers"].as_u64().unwrap() > 0, "{record}");
        assert_ne!(record["verdict"]["durability"], "not_durable", "{}", record["verdict"]);
    }
    let bytes = start_of(device.node());
    let (used, rest) = bytes.split_at((3 * 64) << 10);
    assert!(used.chunks(4_096).all(|page| page.iter().any(|&byte| byte != 0)), "each page");
    assert!(rest.iter().all(|&byte| byte == 0), "nothing behind the areas");
}

#[test]
fn a_mounted_device_and_a_disk_of_a_mounted_partition_are_refused() {
    let folder = Folder::new();
    let Some(device) = device(&folder) else { return };
    system("mkfs.ext4", &[OsStr::new("-q"), device.node().as_os_str()]);
    refused(check(device.node()).run(), "ext4");
    let mount = Mount::of(&[device.node().as_os_str()]);
    let mounted = check(device.node()).args("--force-signature").run();
    refused(mounted, mount.point().to_str().unwrap());
    drop(mount);
    let forced = check(device.node()).args("--force-signature --iters 5").run();
    assert_eq!(forced.json()["status"], "complete", "{}", forced.all());
}

#[test]
fn swap_a_holder_and_a_claim_are_refused() {
    let folder = Folder::new();
    let Some(device) = device(&folder) else { return };
    let node = device.node();
    let above = system("losetup", &[OsStr::new("--find"), OsStr::new("--show"), node.as_os_str()]);
    let outcome = check(node).run();
    system_line(&format!("losetup --detach {}", above.trim()));
    refused(outcome, "loop");
    let claim = {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::File::options();
        options.read(true).custom_flags(nix::libc::O_EXCL).open(node).unwrap()
    };
    refused(check(node).run(), "in use");
    drop(claim);
    let writer = std::fs::File::options().write(true).open(node).unwrap();
    refused(check(node).run(), "open for writing in process");
    drop(writer);
    system("mkswap", &[node.as_os_str()]);
    refused(check(node).run(), "swap");
    assert_eq!(&start_of(node)[4_086..4_096], b"SWAPSPACE2", "nothing was written");
}

#[test]
fn a_partition_table_is_a_signature() {
    let folder = Folder::new();
    let Some(device) = device(&folder) else { return };
    let mut sector = [0; 512];
    sector[510..].copy_from_slice(b"\x55\xaa");
    let file = std::fs::File::options().write(true).open(device.node()).unwrap();
    file.write_all_at(&sector, 0).unwrap();
    drop(file);
    refused(check(device.node()).run(), "partition table");
}

#[test]
fn what_is_no_block_device_is_refused_and_none_is_made() {
    let folder = Folder::new();
    let file = folder.with_file("file", "precious");
    for path in [file.as_path(), folder.path(), Path::new("/dev/null")] {
        let record = check(path).run().exits(3).failure();
        assert_eq!(record["error"]["errno_name"], "ENOTBLK", "{record}");
    }
    let misspelt = Path::new("/dev/nvme99n99");
    let record = check(misspelt).run().exits(3).failure();
    assert_eq!(record["error"]["errno_name"], "ENOENT", "{record}");
    assert!(!misspelt.exists());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn flags_that_mean_nothing_on_a_device_are_refused() {
    let device = "check --device /dev/nvme99n99";
    for (line, word) in [
        (device.to_owned(), "--destroy-data"),
        ("check --destroy-data".to_owned(), "--device"),
        (format!("{device} --destroy-data ."), "--device"),
        (format!("{device} --destroy-data --layout append"), "--layout"),
        (format!("{device} --destroy-data --load mixed"), "--load"),
        (format!("{device} --destroy-data --null"), "--null"),
    ] {
        Cmd::bare().args(&line).run().exits(2).complains(word);
    }
}

#[test]
fn what_does_not_fit_the_device_or_its_sectors_is_refused() {
    let folder = Folder::new();
    let Some(device) = device(&folder) else { return };
    refused(check(device.node()).args("--file-size 40MiB --workers 2").run(), "more than its");
    let odd = check(device.node()).args("--block-size 2300 --arm syscall/fdatasync+direct");
    refused(odd.run(), "multiples of 512");
    let buffered = check(device.node()).args("--block-size 2300 --iters 20 --workers 2").run();
    assert_eq!(buffered.json()["status"], "complete", "{}", buffered.all());
    // By time, the whole of it by default: 5 workers of 16 MiB do not fit, and shrink.
    let shrunk = check(device.node()).args("--workers 5 --iters 5 --force-signature").run();
    assert_eq!(shrunk.json()["status"], "complete", "{}", shrunk.all());
}

#[test]
fn on_a_terminal_a_person_is_shown_the_device_and_asked() {
    let folder = Folder::new();
    let Some(device) = device(&folder) else { return };
    if !has_program("script") {
        return require("script", "no terminal can be had without it");
    }
    let program = env!("CARGO_BIN_EXE_synctail");
    let node = device.node().display();
    let line = format!("{program} check --device {node} --destroy-data --iters 5 --format json");
    let answered = |answer: &str| {
        let script =
            format!("echo {answer} | script --quiet --return --command '{line}' /dev/null");
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = answered("no");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("partitions: none") && said.contains("will be lost"), "{said}");
    assert!(start_of(device.node()).iter().all(|&byte| byte == 0));
    let (_, said) = answered("yes");
    assert!(said.contains("\"status\": \"complete\""), "{said}");
    let (_, said) = answered("no");
    assert!(said.contains("data of a kind that is not known"), "{said}");
}
