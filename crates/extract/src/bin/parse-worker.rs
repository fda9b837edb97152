//! The worker that reads files, alone: what `heddle parse-worker` is to the service.

fn main() -> std::io::Result<()> {
    heddle_extract::worker::stdio()
}
