//! Prints the public interface of a crate: one line per item, sorted.

use std::process::ExitCode;

use public_api::Builder;

/// Traits that every type has or that nobody can name: a line for each would hide the others.
const LEFT_OUT: [&str; 5] = [
    "core::marker::Freeze for",
    "core::marker::StructuralPartialEq for",
    "core::marker::UnsafeUnpin for",
    "core::panic::unwind_safe::RefUnwindSafe for",
    "core::panic::unwind_safe::UnwindSafe for",
];

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: interface FILE, where FILE is the rustdoc JSON of a crate");
        return ExitCode::from(2);
    };
    // Blanket impls say nothing about a crate. Impls of auto traits do: a type that is no longer `Send`
    // breaks its users.
    match Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .build()
    {
        Ok(interface) => {
            let lines = interface.items().map(ToString::to_string);
            for line in lines.filter(|line| !LEFT_OUT.iter().any(|it| line.contains(it))) {
                println!("{line}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("interface: {error}");
            ExitCode::FAILURE
        }
    }
}
