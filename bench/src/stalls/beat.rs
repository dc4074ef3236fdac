//! The period that most stalls keep.
//!
//! Two stalls that follow each other on the beat are a period apart. So each pair of near ones proposes a
//! period; from there the beat is followed to both ends of the run, through missed beats and past stalls
//! beside it, and its period is the regression of the moments on the number of the beat.

use super::chance::ln_chance;
use super::events::Stall;

/// Stalls that may lie between two that follow each other on the beat.
const BESIDE_MOST: usize = 3;

/// Stalls from which a period is proposed; of more, evenly spread ones.
const PROPOSERS_MOST: usize = 100;

/// Stalls, from the first on, among which a period is looked for.
const PROPOSED_FROM_MOST: usize = 2_000;

/// How far from the beat, in periods, a stall is still taken for one on it while the beat is followed.
const REACH: f64 = 0.2;

/// Stalls this many times the median distance from the beat are beside it: 3.4 standard deviations.
const MEDIANS: f64 = 5.0;

/// After so many rounds of taking and fitting nothing moves any more.
const SETTLINGS: usize = 4;

/// The shortest period is itself found: a proposal is off by the jitter of two stalls.
const NEARLY: f64 = 0.9;

/// Widths of the window around the beat, in periods: from the first on, each of the next is this much narrower.
const WIDTH_MOST: f64 = 0.4;
const WIDTH_STEP: f64 = 0.7;
const WIDTHS: i32 = 18;

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Shortest period, nanoseconds.
    pub period_least: f64,
    /// Longest, nanoseconds.
    pub period_most: f64,
    /// How finely a stall's start is known, nanoseconds.
    pub resolution: f64,
}

/// A stall on the beat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which stall.
    pub event: usize,
    /// Which beat; they ascend.
    pub beat: i64,
    /// When, nanoseconds.
    pub at: f64,
}

/// A beat and the stalls on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    /// Nanoseconds.
    pub period: f64,
    /// When beat 0 is due, nanoseconds.
    pub phase: f64,
    /// How far from it a stall is still on it, nanoseconds.
    reach: f64,
    /// At most one for each beat.
    pub hits: Vec<Hit>,
}

impl Search {
    /// The beat that chance explains least, and how often it would. Of very many stalls the first ones propose,
    /// and the beat is then followed through all of them.
    pub fn clearest(&self, events: &[Stall]) -> Option<(Beat, f64)> {
        let all: Vec<f64> = events.iter().map(|event| event.start_ns as f64).collect();
        let mut known = all.len().min(PROPOSED_FROM_MOST);
        let at = &all[..known];
        let mut best: Option<(Beat, f64)> = None;
        let stride = at.len().div_ceil(PROPOSERS_MOST);
        for i in (0..at.len()).step_by(stride) {
            for j in i + 1..at.len().min(i + 2 + BESIDE_MOST) {
                let found = self.proposed(at, [i, j]);
                best = best.into_iter().chain(found).min_by(|a, b| a.1.total_cmp(&b.1));
            }
        }
        let (mut beat, mut ln) = best?;
        while known < all.len() {
            known = (2 * known).min(all.len());
            beat.settle(&all[..known], self.resolution)?;
            ln = self.ln_chance(&all[..known], &beat)?;
        }
        Some((beat, ln.exp()))
    }

    /// The beat that two stalls propose, with the logarithm of its chance.
    fn proposed(&self, at: &[f64], [i, j]: [usize; 2]) -> Option<(Beat, f64)> {
        let allowed = NEARLY * self.period_least..=self.period_most;
        if !allowed.contains(&(at[j] - at[i])) {
            return None;
        }
        let mut beat = followed(at, [i, j])?;
        beat.settle(at, self.resolution)?;
        let ln = allowed.contains(&beat.period).then(|| self.ln_chance(at, &beat)).flatten()?;
        Some((beat, ln))
    }

    /// The least of all windows. Stalls closer to each other than the window is wide are one: a burst is no
    /// evidence for a beat. Nothing where less than half of the beats had a stall or less than half of the
    /// stalls keep the beat.
    fn ln_chance(&self, at: &[f64], beat: &Beat) -> Option<f64> {
        // Starts lie on a grid of this many periods: no narrower window means anything.
        let narrowest = 2.0 * self.resolution / beat.period;
        let widths = (0..WIDTHS).map(|step| WIDTH_MOST * WIDTH_STEP.powi(step));
        let widths = widths.take_while(|&width| width >= narrowest || width == WIDTH_MOST);
        let of = |width: f64| {
            let (count, hits) = beat.within(at, width);
            let enough = hits >= super::STALLS_LEAST as u64;
            let most = 2 * hits >= count && 2 * hits >= beat.beats();
            (enough && most).then(|| ln_chance(count, hits, width, beat.beats() as f64))
        };
        widths.filter_map(of).min_by(f64::total_cmp)
    }
}

/// Goes from the two stalls to both ends and takes with it what is on the beat so far.
fn followed(at: &[f64], [i, j]: [usize; 2]) -> Option<Beat> {
    let mut line = Line::default();
    line.push(0, at[i]);
    line.push(1, at[j]);
    let (mut phase, mut period) = line.fit()?;
    let forward = at[j + 1..].iter().map(|&moment| (moment, 1));
    let backward = at[..i].iter().rev().map(|&moment| (moment, -1));
    let mut last = [0, 1];
    for (moment, direction) in forward.chain(backward) {
        let beat = ((moment - phase) / period).round();
        let last = &mut last[usize::from(direction > 0)];
        let is_new = (beat as i64 - *last) * direction > 0;
        if is_new && (moment - phase - beat * period).abs() <= REACH * period {
            *last = beat as i64;
            line.push(*last, moment);
            (phase, period) = line.fit()?;
        }
    }
    Some(Beat { period, phase, reach: REACH * period, hits: Vec::new() })
}

impl Beat {
    /// Takes the stalls nearest to the beat and fits it to them, a few times over.
    fn settle(&mut self, at: &[f64], resolution: f64) -> Option<()> {
        self.reach = REACH * self.period;
        for _ in 0..SETTLINGS {
            self.hits = hits(at, self, self.reach);
            let mut line = Line::default();
            self.hits.iter().for_each(|hit| line.push(hit.beat, hit.at));
            (self.phase, self.period) = line.fit()?;
            let median = self.median_distance()?;
            self.reach = (MEDIANS * median).max(resolution).min(REACH * self.period);
        }
        Some(())
    }

    /// From the first beat that had a stall to the last, both counted.
    pub fn beats(&self) -> u64 {
        let ends = self.hits.first().zip(self.hits.last());
        ends.map_or(0, |(first, last)| (last.beat - first.beat + 1) as u64)
    }

    /// How much later than due, nanoseconds.
    fn distance(&self, hit: &Hit) -> f64 {
        hit.at - self.phase - hit.beat as f64 * self.period
    }

    /// Stalls at least a window of `width` periods apart, and how many of them lie in the window around the beat.
    fn within(&self, at: &[f64], width: f64) -> (u64, u64) {
        let window = width * self.period;
        let (mut kept, mut count, mut hits) = (f64::NEG_INFINITY, 0, 0);
        for &moment in at {
            if moment - kept < window {
                continue;
            }
            kept = moment;
            let beat = ((moment - self.phase) / self.period).round();
            count += 1;
            hits += u64::from((moment - self.phase - beat * self.period).abs() <= window / 2.0);
        }
        (count, hits)
    }

    fn median_distance(&self) -> Option<f64> {
        let mut all: Vec<f64> = self.hits.iter().map(|hit| self.distance(hit).abs()).collect();
        let middle = all.len() / 2;
        (!all.is_empty()).then(|| *all.select_nth_unstable_by(middle, f64::total_cmp).1)
    }

    /// The 95 % interval of the period: the standard error of the regression's slope and Student's t. A start
    /// is known to within `resolution`, evenly: a twelfth of its square is variance even where all moments
    /// fall on the grid.
    pub fn interval(&self, resolution: f64) -> [f64; 2] {
        let n = self.hits.len() as f64;
        let mean = self.hits.iter().map(|hit| hit.beat as f64).sum::<f64>() / n;
        let spread: f64 = self.hits.iter().map(|hit| (hit.beat as f64 - mean).powi(2)).sum();
        let rest: f64 = self.hits.iter().map(|hit| self.distance(hit).powi(2)).sum();
        let freedom = n - 2.0;
        let variance = rest / freedom + resolution * resolution / 12.0;
        let error = student_97_5(freedom) * (variance / spread).sqrt() / self.freedom_to_move();
        [self.period - error, self.period + error]
    }

    /// Stalls were taken by their distance from the very line that is fitted to them, which makes them look
    /// closer to it than they are. The fewer lie near the reach, the less: 1 - 2 c f(c) with f(c) the density
    /// at the reach c (P. J. Huber, Robust Statistics, 1981, section 4.7, for the skipped mean).
    fn freedom_to_move(&self) -> f64 {
        const OUTER: f64 = 0.8;
        let outer =
            self.hits.iter().filter(|hit| self.distance(hit).abs() > OUTER * self.reach).count();
        let density = outer as f64 / self.hits.len() as f64 / (1.0 - OUTER);
        (1.0 - density).max(1.0 / 3.0)
    }
}

/// The stall nearest to each beat, at most `reach` from it.
fn hits(at: &[f64], beat: &Beat, reach: f64) -> Vec<Hit> {
    let mut all: Vec<Hit> = Vec::new();
    for (event, &moment) in at.iter().enumerate() {
        let number = ((moment - beat.phase) / beat.period).round() as i64;
        let hit = Hit { event, beat: number, at: moment };
        if beat.distance(&hit).abs() > reach {
            continue;
        }
        match all.last_mut() {
            Some(last) if last.beat == number => {
                if beat.distance(&hit).abs() < beat.distance(last).abs() {
                    *last = hit;
                }
            }
            _ => all.push(hit),
        }
    }
    all
}

/// A regression of moments on beats, grown point by point.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    n: f64,
    origin: f64,
    k: f64,
    t: f64,
    kk: f64,
    kt: f64,
}

impl Line {
    fn push(&mut self, beat: i64, at: f64) {
        if self.n == 0.0 {
            self.origin = at;
        }
        let (k, t) = (beat as f64, at - self.origin);
        self.n += 1.0;
        self.k += k;
        self.t += t;
        self.kk += k * k;
        self.kt += k * t;
    }

    /// Intercept and slope; nothing from fewer than two beats, or where no period comes out.
    fn fit(&self) -> Option<(f64, f64)> {
        let spread = self.n * self.kk - self.k * self.k;
        let slope = (self.n * self.kt - self.k * self.t) / spread;
        let intercept = self.origin + (self.t - slope * self.k) / self.n;
        (spread > 0.0 && slope > 0.0).then_some((intercept, slope))
    }
}

/// The 97.5 % point of Student's t, from its table for few and Fisher's expansion for more degrees of freedom.
fn student_97_5(freedom: f64) -> f64 {
    const TABLE: [f64; 5] = [12.706, 4.303, 3.182, 2.776, 2.571];
    const NORMAL: f64 = 1.959_964;
    match freedom as usize {
        few @ 0..=5 => TABLE[few.max(1) - 1],
        _ => NORMAL + 2.372_3 / freedom + 2.822_5 / freedom.powi(2) + 2.555_9 / freedom.powi(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_is_that_of_the_tables() {
        for (freedom, t) in [(1.0, 12.706), (4.0, 2.776), (6.0, 2.447), (10.0, 2.228), (60.0, 2.0)]
        {
            assert!((student_97_5(freedom) - t).abs() < 2e-3, "{freedom}");
        }
    }

    #[test]
    fn a_line_is_found_wherever_it_begins() {
        let mut line = Line::default();
        [(7, 1_000_000_035.0), (8, 1_000_000_040.0), (3, 1_000_000_015.0)]
            .into_iter()
            .for_each(|(beat, at)| line.push(beat, at));
        let (phase, period) = line.fit().unwrap();
        assert!((period - 5.0).abs() < 1e-6 && (phase - 1e9).abs() < 1e-3, "{phase} {period}");
        assert_eq!(Line::default().fit(), None);
    }
}
