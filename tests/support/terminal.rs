//! A terminal of a test's own, and what is written to it.

use std::fs::File;
use std::io::Read;
use std::thread::JoinHandle;

use nix::pty::{Winsize, openpty};

/// A terminal of 80 columns; all that is written to it is read.
#[derive(Debug)]
pub struct Terminal {
    slave: Option<File>,
    reader: JoinHandle<Vec<u8>>,
}

impl Terminal {
    /// A new one.
    pub fn new() -> Terminal {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let (mut master, slave) = (File::from(pty.master), File::from(pty.slave));
        let reader = std::thread::spawn(move || {
            let (mut all, mut some) = (Vec::new(), [0; 4096]);
            // The last writer's end is EIO.
            while let Ok(length @ 1..) = master.read(&mut some) {
                all.extend(&some[..length]);
            }
            all
        });
        Terminal { slave: Some(slave), reader }
    }

    /// An end for a program's output.
    pub fn end(&self) -> File {
        self.slave.as_ref().unwrap().try_clone().unwrap()
    }

    /// What was written, once every program on it is over.
    pub fn written(mut self) -> String {
        drop(self.slave.take());
        String::from_utf8(self.reader.join().unwrap()).unwrap()
    }
}
