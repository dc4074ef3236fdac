//! The order in which the arms' slices run.

/// The arms of round `round`, each once. Two arms give ABBA. More give a balanced Latin square: over a
/// cycle each arm stands equally often at each place and behind each other one (E. J. Williams,
/// "Experimental designs balanced for the estimation of residual effects of treatments", 1949); an odd
/// number of arms needs each row backward as well, so its cycle is twice as long.
pub fn slice_order(arms: usize, round: usize) -> Vec<usize> {
    if arms == 0 {
        return Vec::new();
    }
    let row = round % arms;
    let zigzag = |place: usize| if place % 2 == 1 { place.div_ceil(2) } else { arms - place / 2 };
    let mut order: Vec<usize> = (0..arms).map(|place| (zigzag(place) + row) % arms).collect();
    if arms % 2 == 1 && (round / arms) % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::slice_order;

    #[test]
    fn two_arms_run_as_abba() {
        assert_eq!([0, 1, 2].map(|round| slice_order(2, round)), [[0, 1], [1, 0], [0, 1]]);
    }

    #[test]
    fn each_arm_stands_equally_often_at_each_place_and_behind_each_other() {
        for arms in 1..9 {
            let cycle = if arms % 2 == 1 { 2 * arms } else { arms };
            let mut places = vec![vec![0; arms]; arms];
            let mut behind = vec![vec![0; arms]; arms];
            for round in 0..cycle {
                let order = slice_order(arms, round);
                order.iter().enumerate().for_each(|(place, &arm)| places[arm][place] += 1);
                order.windows(2).for_each(|pair| behind[pair[0]][pair[1]] += 1);
            }
            let times = cycle / arms;
            for arm in 0..arms {
                assert!(places[arm].iter().all(|&count| count == times), "{arms} arms");
                let others = |other: usize| usize::from(other != arm) * times;
                assert!((0..arms).all(|other| behind[arm][other] == others(other)), "{arms} arms");
            }
        }
    }
}
