//! The program starts in `main` as the C library calls it; nothing else of that library is used.

fn main() {
    println!("cargo:rustc-link-lib=c");
    println!("cargo:rustc-link-lib=gcc_s");
}
