//! A basket.
use std::collections::HashMap;

/// Counts the fruits of each name.
pub fn count(names: &[String]) -> HashMap<String, usize> {
    use std::collections::hash_map::Entry;
    let mut may_count = HashMap::new();
    // one after another
    for may_name in names.iter() {
        match may_count.entry(may_name.clone()) {
            Entry::Occupied(mut may_seen) => *may_seen.get_mut() += 1,
            Entry::Vacant(may_be) => { may_be.insert(1); }
        }
    }
    println!("{} may be {}", "may
        inside", names.len());
    may_count
}
