//! Writes what each target begins with: `seeds FOLDER` fills `FOLDER/TARGET/`, and `FOLDER/words.dict` with the words of links.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{env, fs, io};

use wirelab_fuzz::TARGETS;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).expect("the folder of the corpora"));
    for (name, _, seeds) in TARGETS {
        let corpus = folder.join(name);
        fs::create_dir_all(&corpus)?;
        for (number, seed) in seeds().iter().enumerate() {
            fs::write(corpus.join(format!("seed-{number:03}")), seed)?;
        }
    }
    let links = include_str!("../src/links.json");
    let words: BTreeSet<&str> = links.split('"').skip(1).step_by(2).collect();
    fs::write(folder.join("words.dict"), words.iter().map(|word| format!("\"\\\"{word}\\\"\"\n")).collect::<String>())
}
