//! The link that a description means, whichever backend runs it. What no link can do is refused with its place and value.

mod netem;

use wirelab_net::link::spec::SpecError;
use wirelab_net::link::{Chain, Link};
use wirelab_schema::LinkSpec;

pub use netem::qdiscs;

/// The link that `spec` describes, its generators seeded by `seed`. Of a link that netem runs, the part before netem: it passes every packet on at
/// once.
pub fn build(spec: &LinkSpec, seed: u64) -> Result<Link, SpecError> {
    let link = spec.build(seed)?;
    if spec.is_netem() {
        qdiscs(spec, seed)?;
        return Ok(Link::new(Chain::new(vec![]), Chain::new(vec![])));
    }
    Ok(link)
}
