//! Plots for a terminal.

use clap::Args;

/// Plots for a terminal.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct PlotArgs {
    /// Draw percentile curve and histogram below the text; in colour on a terminal, unless NO_COLOR is set
    #[arg(long)]
    pub plot: bool,
    /// Draw them in ASCII
    #[arg(long, requires = "plot")]
    pub ascii: bool,
}

impl PlotArgs {
    /// Whether a plot can stand in the result.
    ///
    /// # Errors
    /// Where one is asked for and the result is for a program.
    pub fn fits(&self, is_text: bool) -> Result<(), String> {
        let why = "--plot: it stands below the text, and only --format text has one";
        if self.plot && !is_text { Err(why.to_owned()) } else { Ok(()) }
    }
}
