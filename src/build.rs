//! Lets Linux load the program at a fixed address, as it does with programs that Go makes. Otherwise the 70,000
//! addresses in its tables are adjusted at each start, which takes a third of the time of a start. The stack, the heap
//! and the libraries stay at random addresses.

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let is_static =
        std::env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|it| it.contains("crt-static"));
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
