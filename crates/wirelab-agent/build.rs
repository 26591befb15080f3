//! Links the agent for fixed addresses: a program that may lie anywhere corrects 35,000 of its own at each start, in pages that the kernel must
//! copy for that. A guest of the virtual clock starts it six times (docs/design/decisions.md).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A static program is linked for fixed addresses, or not, by its target's own options.
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    if !is_static && std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
