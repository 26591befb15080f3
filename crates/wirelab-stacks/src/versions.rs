//! Libraries of this build with their locked versions.

const LOCK: &str = include_str!("../../../Cargo.lock");

/// The named libraries with the versions that this build locks, for example `hyper 1.12.0`.
pub fn libraries(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name} {}", locked(name).unwrap_or("?"))).collect()
}

fn locked(name: &str) -> Option<&'static str> {
    let (_, package) = LOCK.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    package.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let [hyper] = libraries(&["hyper"]).try_into().expect("one for each name");
        assert!(hyper.starts_with("hyper 1."), "{hyper}");
        assert_eq!(libraries(&["no-such-library"]), ["no-such-library ?"]);
    }
}
