//! How often moments at random would fall on a beat as well as these do.

/// Natural logarithm of the probability that at least `least` of `count` independent trials succeed, each
/// with probability `each`. The terms fall from `least` on, since that is above the mean; where it is not,
/// nothing is unlikely and 0 is the answer.
fn ln_at_least(count: u64, least: u64, each: f64) -> f64 {
    if least as f64 <= count as f64 * each {
        return 0.0;
    }
    if least > count {
        return f64::NEG_INFINITY;
    }
    let odds = (each / (1.0 - each)).ln();
    let mut ln_first = count as f64 * (1.0 - each).ln();
    for k in 0..least {
        ln_first += ((count - k) as f64 / (k + 1) as f64).ln() + odds;
    }
    // The rest relative to the first term.
    let (mut sum, mut term) = (1.0, 1.0);
    for k in least..count {
        term *= (count - k) as f64 / (k + 1) as f64 * odds.exp();
        sum += term;
        if term < 1e-12 * sum {
            break;
        }
    }
    (ln_first + sum.ln()).min(0.0)
}

/// Natural logarithm of (a bound of) the chance that, of `count` moments at random, `hits` fall into a window
/// of `width` of some beat with at most `cycles` cycles between the first and the last.
///
/// A scan statistic: each moment may be where the window begins, and the others then fall into it as in a
/// binomial trial (J. Glaz, J. Naus, S. Wallenstein, Scan Statistics, 2001, chapter 8). Periods count as
/// different where they shift the last moment by a window: that is `cycles / width` of them.
pub fn ln_chance(count: u64, hits: u64, width: f64, cycles: f64) -> f64 {
    (count as f64).ln() + ln_at_least(count - 1, hits - 1, width) + (cycles / width).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_tails_are_those_of_the_tables() {
        // R: pbinom(4, 10, 0.1, lower.tail = FALSE), pbinom(11, 17, 0.05, lower.tail = FALSE).
        for (count, least, each, tail) in
            [(10, 5, 0.1, 1.634_937_4e-3), (17, 12, 0.05, 1.193_006_8e-12), (4, 4, 0.5, 0.0625)]
        {
            let found = ln_at_least(count, least, each).exp();
            assert!((found / tail - 1.0).abs() < 1e-3, "{count} {least} {each}: {found}");
        }
        assert_eq!(ln_at_least(10, 1, 0.5), 0.0);
        assert_eq!(ln_at_least(3, 4, 0.1), f64::NEG_INFINITY);
    }
}
