//! Maximum bipartite matching: the most pairs such that no vertex is in two (spec 4.7).
//!
//! Searches an augmenting path from each vertex on the left, over rows of bits. Hopcroft-Karp has the better bound, but needs every edge
//! before it starts; here an edge costs a recursive comparison, and a row is asked for only when a search reaches it. With at most
//! 1,000 vertices a side a row has 16 words, so that a search never costs more than some microseconds.

/// A graph whose edges are found out on demand.
pub(super) trait Graph {
    type Error;

    /// The neighbours of a vertex on the left. Asked for at most once per vertex.
    fn neighbours(&mut self, left: usize) -> Result<Bits, Self::Error>;

    /// Called for each vertex on the left that a search visits.
    fn visit(&mut self) -> Result<(), Self::Error>;
}

/// A set of vertices on the right.
#[derive(Clone, Debug)]
pub(super) struct Bits(Box<[u64]>);

impl Bits {
    pub fn empty(length: usize) -> Self {
        Self(vec![0; length.div_ceil(64)].into())
    }

    fn full(length: usize) -> Self {
        let mut bits = Self::empty(length);
        (0..length).for_each(|bit| bits.insert(bit));
        bits
    }

    pub fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn remove(&mut self, bit: usize) {
        self.0[bit / 64] &= !(1 << (bit % 64));
    }

    /// The first that is in all three sets.
    fn first_common(&self, second: &Self, third: &Self) -> Option<usize> {
        let words = self.0.iter().zip(&second.0).zip(&third.0).map(|((a, b), c)| a & b & c);
        words.enumerate().find(|(_, word)| *word != 0).map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
    }
}

/// Pairs of a matching, from both sides.
#[derive(Clone, Debug)]
pub(super) struct Matching {
    pub of_left: Vec<Option<usize>>,
    pub of_right: Vec<Option<usize>>,
    /// Vertices on the left without a partner, as far as the search went.
    pub unmatched: usize,
}

impl Matching {
    pub fn empty(lefts: usize, rights: usize) -> Self {
        Self { of_left: vec![None; lefts], of_right: vec![None; rights], unmatched: lefts }
    }

    /// Pairs two vertices that have no partner yet.
    pub fn pair(&mut self, left: usize, right: usize) {
        self.of_left[left] = Some(right);
        self.of_right[right] = Some(left);
        self.unmatched -= 1;
    }

    /// Grows the matching until it is maximum, or until it is certain that more than `allowed` vertices on the left stay without
    /// a partner.
    pub fn grow<G: Graph>(&mut self, graph: &mut G, allowed: usize) -> Result<(), G::Error> {
        let (lefts, rights) = (self.of_left.len(), self.of_right.len());
        let mut rows: Vec<Option<Bits>> = vec![None; lefts];
        let all = Bits::full(rights);
        let mut free = Bits::empty(rights);
        (0..rights).filter(|right| self.of_right[*right].is_none()).for_each(|right| free.insert(right));
        // What a failed search has visited can be part of no later augmenting path, so it stays removed.
        let mut open = all.clone();
        let mut matched = lefts - self.unmatched;
        let mut failures = 0;
        let mut found_by = vec![0; rights];
        for start in 0..lefts {
            if matched == rights || failures > allowed {
                break;
            }
            if self.of_left[start].is_some() {
                continue;
            }
            let mut unvisited = open.clone();
            let mut queue = vec![start];
            let mut next = 0;
            let end = 'search: loop {
                let Some(&left) = queue.get(next) else { break None };
                next += 1;
                graph.visit()?;
                let row = match &mut rows[left] {
                    Some(row) => row,
                    row => row.insert(graph.neighbours(left)?),
                };
                if let Some(right) = row.first_common(&unvisited, &free) {
                    found_by[right] = left;
                    break Some(right);
                }
                while let Some(right) = row.first_common(&unvisited, &all) {
                    unvisited.remove(right);
                    found_by[right] = left;
                    match self.of_right[right] {
                        Some(partner) => queue.push(partner),
                        // Not reached: free vertices were looked for first.
                        None => break 'search Some(right),
                    }
                }
            };
            match end {
                Some(right) => {
                    free.remove(right);
                    self.augment(start, right, &found_by);
                    matched += 1;
                }
                None => {
                    open = unvisited;
                    failures += 1;
                }
            }
        }
        self.unmatched = lefts - matched;
        Ok(())
    }

    fn augment(&mut self, start: usize, end: usize, found_by: &[usize]) {
        let mut right = end;
        loop {
            let left = found_by[right];
            let before = self.of_left[left].replace(right);
            self.of_right[right] = Some(left);
            match before {
                Some(before) if left != start => right = before,
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    struct Known {
        rows: Vec<Vec<bool>>,
        asked: Vec<bool>,
    }

    impl Graph for Known {
        type Error = Infallible;

        fn neighbours(&mut self, left: usize) -> Result<Bits, Infallible> {
            assert!(!std::mem::replace(&mut self.asked[left], true), "asked twice");
            let mut bits = Bits::empty(self.rows[left].len());
            (0..self.rows[left].len()).filter(|right| self.rows[left][*right]).for_each(|right| bits.insert(right));
            Ok(bits)
        }

        fn visit(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn grown(rows: &[Vec<bool>], rights: usize, initial: &[(usize, usize)], allowed: usize) -> Matching {
        let mut matching = Matching::empty(rows.len(), rights);
        initial.iter().for_each(|(left, right)| matching.pair(*left, *right));
        let mut graph = Known { rows: rows.to_vec(), asked: vec![false; rows.len()] };
        let Ok(()) = matching.grow(&mut graph, allowed);
        for (left, right) in matching.of_left.iter().enumerate().filter_map(|(left, right)| Some((left, (*right)?))) {
            assert!(rows[left][right] && matching.of_right[right] == Some(left));
        }
        assert_eq!(matching.of_left.iter().flatten().count(), matching.of_right.iter().flatten().count());
        assert_eq!(matching.of_left.iter().filter(|right| right.is_none()).count(), matching.unmatched);
        matching
    }

    /// The textbook's recursive search.
    fn maximum(rows: &[Vec<bool>], rights: usize) -> usize {
        fn search(rows: &[Vec<bool>], left: usize, seen: &mut [bool], partner: &mut [Option<usize>]) -> bool {
            (0..seen.len()).any(|right| {
                let open = rows[left][right] && !std::mem::replace(&mut seen[right], true);
                let found = open && partner[right].is_none_or(|left| search(rows, left, seen, partner));
                if found {
                    partner[right] = Some(left);
                }
                found
            })
        }
        let mut partner = vec![None; rights];
        (0..rows.len()).filter(|left| search(rows, *left, &mut vec![false; rights], &mut partner)).count()
    }

    #[test]
    fn a_partner_is_given_up_where_that_makes_room() {
        let rows = [vec![true, true], vec![true, false]];
        assert_eq!(grown(&rows, 2, &[(0, 0)], 0).of_left, [Some(1), Some(0)]);
    }

    #[test]
    fn the_search_ends_when_too_many_stay_alone() {
        assert_eq!(grown(&vec![vec![false; 3]; 100], 3, &[], 0).unmatched, 100);
        assert_eq!(grown(&[], 3, &[], 0).unmatched, 0);
        assert_eq!(grown(&[vec![], vec![]], 0, &[], 9).unmatched, 2);
    }

    proptest! {
        #[test]
        fn no_matching_is_larger(
            (rights, rows) in (0..80usize).prop_flat_map(|rights| {
                let row = prop::collection::vec(prop::bool::weighted(0.05), rights);
                (Just(rights), prop::collection::vec(row, 0..80))
            })
        ) {
            let matching = grown(&rows, rights, &[], usize::MAX);
            prop_assert_eq!(rows.len() - matching.unmatched, maximum(&rows, rights));
            // From any pair, too.
            let edge = rows.iter().enumerate().find_map(|(left, row)| Some((left, row.iter().rposition(|edge| *edge)?)));
            let again = grown(&rows, rights, edge.as_slice(), usize::MAX);
            prop_assert_eq!(again.unmatched, matching.unmatched);
        }
    }
}
