//! The `hookmitt` command.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    hookmitt_cli::run(std::env::args_os())
}
