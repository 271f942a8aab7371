//! The C library calls `main`; nothing else of it is used.

fn main() {
    println!("cargo:rustc-link-lib=c");
    println!("cargo:rustc-link-lib=gcc_s");
}
