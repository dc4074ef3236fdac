//! A grid of characters with dots in it: 2 x 4 in each of Braille's, one in each of ASCII's.

/// Braille's dots by column and row from above, as bits above [`BRAILLE`].
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
/// The pattern without a dot.
const BRAILLE: u32 = 0x2800;

/// Dots under construction.
#[derive(Debug)]
pub struct Canvas {
    columns: usize,
    rows: usize,
    ascii: bool,
    cells: Vec<u32>,
}

impl Canvas {
    /// Without a dot.
    pub fn new(columns: usize, rows: usize, ascii: bool) -> Canvas {
        Canvas { columns, rows, ascii, cells: vec![0; columns * rows] }
    }

    /// Dots across and down.
    fn dots(&self) -> (usize, usize) {
        if self.ascii { (self.columns, self.rows) } else { (self.columns * 2, self.rows * 4) }
    }

    /// A line between two places, each 0 to 1 from the left and from below.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (across, down) = self.dots();
        let steps =
            ((to.0 - from.0).abs() * across as f64).max((to.1 - from.1).abs() * down as f64);
        let steps = steps.ceil().max(1.0) as usize;
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            self.dot(from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        }
    }

    fn dot(&mut self, x: f64, y: f64) {
        let (across, down) = self.dots();
        let column = ((x * across as f64) as usize).min(across - 1);
        let row = (((1.0 - y) * down as f64) as usize).min(down - 1);
        let (cell, bit) = match self.ascii {
            true => (row * self.columns + column, 1),
            false => (row / 4 * self.columns + column / 2, DOTS[column % 2][row % 4]),
        };
        self.cells[cell] |= bit;
    }

    /// One row from above; `empty` stands where there is no dot.
    pub fn row(&self, row: usize, empty: char) -> String {
        let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
        let shown = |&cell: &u32| match (cell, self.ascii) {
            (0, _) => empty,
            (_, true) => '*',
            (dots, false) => char::from_u32(BRAILLE + dots).unwrap_or('*'),
        };
        cells.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagonal_goes_from_corner_to_corner() {
        let mut canvas = Canvas::new(4, 4, true);
        canvas.line((0.0, 0.0), (1.0, 1.0));
        let rows: Vec<String> = (0..4).map(|row| canvas.row(row, ' ')).collect();
        assert_eq!((rows[0].ends_with('*'), rows[3].starts_with('*')), (true, true), "{rows:?}");
        let mut fine = Canvas::new(1, 1, false);
        fine.line((0.0, 0.0), (0.0, 1.0));
        assert_eq!(fine.row(0, ' '), "⡇");
    }
}
