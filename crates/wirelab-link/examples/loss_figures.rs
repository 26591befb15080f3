//! Prints the loss and the mean run of losses of the Gilbert-Elliott model of milosevic2021 over 10 million packets, for three seeds.

use wirelab_link::impairment::{GilbertElliott, LossModel};
use wirelab_link::{Direction, Instant, Probability, Seed};

fn main() {
    let [p, r, bad_loss, good_loss] = [0.01, 0.1, 0.7, 0.001].map(|value| Probability::new(value).expect("a fraction"));
    println!("theory            6.4545 %");
    for link in 1..=3 {
        let seed = Seed { link, direction: Direction::Uplink, index: 0 };
        let mut model = GilbertElliott::new(p, r, bad_loss, good_loss, seed);
        let (mut lost, mut runs, mut in_run) = (0u32, 0u32, false);
        for _ in 0..10_000_000 {
            let loses = model.loses(Instant::default());
            lost += u32::from(loses);
            runs += u32::from(loses && !in_run);
            in_run = loses;
        }
        let mean_run = f64::from(lost) / f64::from(runs);
        println!("seed {link}: measured  {:.4} %, mean run {mean_run:.4} packets", f64::from(lost) / 1e5);
    }
}
