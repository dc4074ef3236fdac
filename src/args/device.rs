//! A raw block device instead of a directory.

use std::path::PathBuf;

use clap::Args;

/// What is given away by measuring a device.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Raw device")]
pub struct DeviceArgs {
    /// Write to this block device instead of to files; what is on it is lost
    #[arg(long, value_name = "DEV", requires = "destroy_data", conflicts_with = "path")]
    pub device: Option<PathBuf>,
    /// The data on the device may be destroyed
    #[arg(long, requires = "device")]
    pub destroy_data: bool,
    /// Even where it carries the signature of a filesystem, a pool or a partition table
    #[arg(long, requires = "device")]
    pub force_signature: bool,
}
