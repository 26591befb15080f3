//! Links the agent for fixed addresses: a program that may lie anywhere corrects 35,000 of its own at each start, in pages that the kernel must
//! copy for that. A guest of the virtual clock starts it six times (docs/design/decisions.md).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-no-pie");
}
